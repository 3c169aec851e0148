import { useQuery } from "@tanstack/react-query";
import type { ExplainAccessResponse } from "../../../api/gen/iam.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Note } from "../../../ui/note.tsx";
import { Section, Stack } from "../../../ui/page.tsx";
import { identitiesQuery } from "../parts/data.ts";
import styles from "../parts/parts.module.css";
import type { Question } from "./request.ts";
import { answerOf, shownRemedy, type Shown, shownStep } from "./words.ts";

const LOOKS = {
  Passed: "success",
  Failed: "danger",
  "Does not apply": "plain",
  "Not stated": "plain",
} as const;

export interface ExplanationProps {
  question: Question;
  answer: ExplainAccessResponse;
}

/** The answer, what would have to change, and the steps that decided it. */
export function Explanation({ question, answer }: ExplanationProps) {
  const { allowed, steps, remedies, identity } = answer;
  const name = useQuery(identitiesQuery).data?.find(({ uid }) => uid === identity)?.name;
  return (
    <Stack>
      <div role="status">
        <Note look={allowed ? "success" : "warning"}>
          <strong>{answerOf(answer, name)}</strong>
        </Note>
      </div>
      {remedies.length > 0 && (
        <Section title="What would have to change">
          <ul>
            {remedies.map((remedy) => {
              const { message, places } = shownRemedy(remedy, question, answer);
              return (
                <li key={message}>
                  {message}{" "}
                  {places.map(({ label, href }) => (
                    <a key={href} href={href}>
                      {label}
                    </a>
                  ))}
                </li>
              );
            })}
          </ul>
        </Section>
      )}
      <Section title="Evaluation">
        <ol className={styles.steps} aria-label="Steps of the decision">
          {steps.map((step, index) => (
            <Step key={index} {...shownStep(step, question, identity)} />
          ))}
        </ol>
      </Section>
    </Stack>
  );
}

function Step({ about, outcome, message, place }: Shown) {
  return (
    <li className={outcome === "Failed" ? styles.decided : undefined}>
      <div>
        <strong>{about}</strong> <Badge look={LOOKS[outcome]}>{outcome}</Badge>
        <div>{message}</div>
        {place !== undefined && <a href={place.href}>{place.label}</a>}
      </div>
    </li>
  );
}
