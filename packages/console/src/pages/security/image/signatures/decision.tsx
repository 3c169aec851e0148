import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SignatureDecision, SignaturePolicyDecision } from "../../../../api/gen/registry.ts";
import { Badge } from "../../../../ui/badge.tsx";
import type { Column } from "../../../../ui/column.ts";
import { ErrorNote } from "../../../../ui/error-note.tsx";
import { Note } from "../../../../ui/note.tsx";
import { Section } from "../../../../ui/page.tsx";
import { ShortTable } from "../../../../ui/short-table.tsx";
import { outcomeWord } from "../../signatures/signature-words.ts";
import type { Place } from "../data.ts";
import styles from "../image.module.css";
import { decisionQuery } from "./queries.ts";

/** Whether policies let the image be pulled, and what each says. */
export function Decision({ place, digest }: { place: Place; digest: string }) {
  const { data, error, isPending } = useQuery({ ...decisionQuery(place.repoUid, digest), retry: false });
  return (
    <Section title="What policies say">
      {isPending && <p role="status">Checking policies…</p>}
      <ErrorNote error={error} />
      {data !== undefined && (
        <>
          <Verdict decision={data} />
          {data.policies.length > 0 && (
            <ShortTable label="Policies" rows={data.policies} columns={COLUMNS} idOf={({ policy }) => policy} />
          )}
        </>
      )}
    </Section>
  );
}

function Verdict({ decision: { held, waiting, message, policies } }: { decision: SignatureDecision }) {
  if (policies.length === 0)
    return (
      <Note>
        No signature policy is about this image: it is pulled whether it is signed or not.{" "}
        <Link to="/signatures/policies">All policies</Link>
      </Note>
    );
  if (!held) return <Note look="success">No policy blocks this image.</Note>;
  return (
    <Note look="warning">
      <strong>{waiting ? "Blocked until its signatures are verified." : "Blocked."}</strong> {message}
    </Note>
  );
}

const COLUMNS: readonly Column<SignaturePolicyDecision>[] = [
  {
    id: "policy",
    header: "Policy",
    cell: ({ policy, name }) => (
      <Link to="/signatures/policy" search={{ uid: policy }}>
        {name}
      </Link>
    ),
  },
  {
    id: "outcome",
    header: "It says",
    cell: ({ outcome }) => {
      const [word, look] = outcomeWord(outcome);
      return <Badge look={look}>{word}</Badge>;
    },
  },
  {
    id: "mode",
    header: "Mode",
    isMinor: true,
    cell: ({ mode }) => (mode === "GATE_MODE_ENFORCE" ? "Enforced" : "Preview, rejects nothing"),
  },
  {
    id: "why",
    header: "Why",
    isMinor: true,
    cell: ({ reason, rules }) => (
      <div className={styles.reasons}>
        {reason !== "" && <span>{reason}</span>}
        {rules.map((rule) => (
          <span key={rule.name}>
            {rule.name}: {rule.found} of {rule.threshold} {rule.reason}
          </span>
        ))}
      </div>
    ),
  },
];
