import type { ErrorComponentProps } from "@tanstack/react-router";
import { useRouter } from "@tanstack/react-router";
import { ApiError } from "../api/errors.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Page, Row } from "../ui/page.tsx";

/** In place of a page whose data could not be read. */
export function Failed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const again = (): void => {
    reset();
    void router.invalidate();
  };
  return (
    <Page title={titleOf(error)}>
      <ErrorNote error={error} />
      <Row>
        <Button look="primary" onClick={again}>
          Try again
        </Button>
        <Button onClick={() => router.history.back()}>Back</Button>
      </Row>
    </Page>
  );
}

function titleOf(error: unknown): string {
  if (!(error instanceof ApiError)) return "This page failed";
  if (error.status === 404) return "Not found";
  if (error.status === 403) return "You may not see this";
  if (error.status === 0) return "The server does not answer";
  return "The server could not answer";
}
