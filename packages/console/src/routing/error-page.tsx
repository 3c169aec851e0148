import type { ErrorComponentProps } from "@tanstack/react-router";
import { useRouter } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { ApiError } from "../api/errors.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Page, Row } from "../ui/page.tsx";
import { NoSuch } from "./no-page.tsx";

const NearestImage = lazy(() =>
  import("./nearest-image.tsx").then(({ NearestImage: component }) => ({ default: component })),
);

/** In place of a page whose data could not be read. */
export function Failed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const again = (): void => {
    reset();
    void router.invalidate();
  };
  if (error instanceof ApiError && error.status === 404) {
    const { name = "" } = router.state.location.search as { name?: string };
    return (
      <NoSuch {...(name !== "" && { title: `No image ${name}` })}>
        It does not exist, or you have no access to it.
        {name !== "" && (
          <Suspense>
            <NearestImage name={name} />
          </Suspense>
        )}
      </NoSuch>
    );
  }
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
  if (error.status === 403) return "You do not have access to this";
  if (error.status === 0) return "The server is not responding";
  return "The server could not answer";
}
