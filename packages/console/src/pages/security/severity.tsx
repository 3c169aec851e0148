import type { FindingSeverity } from "../../api/gen/vulnerabilities.ts";
import { Badge, type BadgeLook } from "../../ui/badge.tsx";

const LOOKS: Readonly<Record<string, BadgeLook>> = {
  CRITICAL: "critical",
  HIGH: "danger",
  MEDIUM: "warning",
  LOW: "plain",
};

/** The severities to filter by, from the worst. */
export const SEVERITIES = ["CRITICAL", "HIGH", "MEDIUM", "LOW"] as const;

/** A severity with its score of CVSS, if there is one. */
export function SeverityBadge({ severity, score }: { severity: FindingSeverity | string; score?: number | undefined }) {
  const word = severity.replace("FINDING_SEVERITY_", "").toUpperCase() || "UNKNOWN";
  return (
    <Badge look={LOOKS[word] ?? "plain"}>
      {word.charAt(0) + word.slice(1).toLowerCase()}
      {score === undefined ? "" : ` ${score.toFixed(1)}`}
    </Badge>
  );
}

/** A severity of the URL as the API names it; undefined for what is none. */
export function severityOf(text: string | undefined): FindingSeverity | undefined {
  return SEVERITIES.some((each) => each === text) ? (`FINDING_SEVERITY_${text}` as FindingSeverity) : undefined;
}
