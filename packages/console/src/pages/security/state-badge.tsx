import type { Finding } from "../../api/gen/vulnerabilities.ts";
import { Badge } from "../../ui/badge.tsx";

/** Whether a finding of which nothing is said is open. */
export function StateBadge({ state }: Pick<Finding, "state">) {
  const isClosed = state === "FINDING_STATE_CLOSED";
  return <Badge look={isClosed ? "success" : "plain"}>{isClosed ? "Closed" : "Open"}</Badge>;
}
