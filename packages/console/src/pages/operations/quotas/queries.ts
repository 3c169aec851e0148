import { listQuotas } from "../../../api/gen/registry.ts";
import { listQuery } from "../../../api/queries.ts";

const PAGE_SIZE = 100;

/** The quotas of a group and the groups below it, or all that the person may see. */
export function quotasQuery(group = "") {
  return listQuery(listQuotas, { pageSize: PAGE_SIZE, ...(group !== "" && { uidp: { descendantsOf: group } }) });
}
