import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { explainAccess } from "../../../api/gen/iam.ts";
import { query } from "../../../api/queries.ts";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Page } from "../../../ui/page.tsx";
import { Explanation } from "./explanation.tsx";
import { QuestionForm } from "./question-form.tsx";
import { requestOf } from "./request.ts";

const route = getRouteApi("/shell/access/explain");

/** `/access/explain`: whether somebody may do something, what decides it, and what would have to change. */
export function ExplainPage() {
  const question = route.useSearch();
  const navigate = useNavigate();
  const request = requestOf(question);
  const { data, error, isPending } = useQuery({
    ...query(explainAccess, request ?? {}),
    enabled: request !== undefined,
  });
  return (
    <Page title="Check access">
      <p>
        Can this identity pull that image, and if not, why? The server says what it would decide, and changes nothing.
      </p>
      <QuestionForm
        key={JSON.stringify(question)}
        question={question}
        onAsk={(asked) => void navigate({ to: "/access/explain", search: { ...asked } })}
      />
      {request === undefined && (
        <Empty title="Check access">The address of this page leads back to the result, so you can share it.</Empty>
      )}
      {request !== undefined && isPending && <p role="status">Looking…</p>}
      <ErrorNote error={error} />
      {data !== undefined && <Explanation question={question} answer={data} />}
    </Page>
  );
}
