import { type AuditDecision, listAuditEntries, type ListAuditEntriesRequest } from "../../api/gen/iam.ts";
import { listQuery } from "../../api/queries.ts";

/** The filters of the audit log as they stand in the URL. */
export type AuditSearch = Partial<
  Record<"group" | "identity" | "method" | "decision" | "resource" | "since" | "until" | "order" | "own", string>
>;

/** In the address: the console's own reads are shown, too. */
export const SHOWN = "shown";

const PAGE_SIZE = 100;
const DECISIONS: Readonly<Record<string, AuditDecision>> = {
  allowed: "AUDIT_DECISION_ALLOWED",
  denied: "AUDIT_DECISION_DENIED",
};

/** The request for what the filters say. */
export function auditRequest(search: AuditSearch, pageSize = PAGE_SIZE): ListAuditEntriesRequest {
  const { group = "", identity = "", method = "", decision = "", resource = "", since = "", until = "" } = search;
  return {
    ...(group !== "" && { uidp: { descendantsOf: group } }),
    ...(identity !== "" && { identity }),
    ...(method !== "" && { method }),
    ...(DECISIONS[decision] !== undefined && { decision: DECISIONS[decision] }),
    ...(resource !== "" && { resource }),
    ...(since !== "" && { since }),
    ...(until !== "" && { until }),
    ...(search.order !== undefined && { orderBy: search.order }),
    pageSize,
  };
}

/** The entries of the audit log that the filters let through. */
export function auditQuery(search: AuditSearch) {
  return listQuery(listAuditEntries, auditRequest(search));
}
