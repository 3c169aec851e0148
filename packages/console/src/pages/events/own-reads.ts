import type { AuditEntry } from "../../api/gen/iam.ts";

// The console asks for a new access token every few minutes, and for each tab.
const OWN = "session.token";

/** Whether the entry is of the console's own reading: it keeps whoever is signed in signed in. */
export function isOwnRead({ method, decision }: Pick<AuditEntry, "method" | "decision">): boolean {
  return method === OWN && decision === "AUDIT_DECISION_ALLOWED";
}
