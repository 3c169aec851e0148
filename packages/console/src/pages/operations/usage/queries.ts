import { listUsage, type UsagePeriod } from "../../../api/gen/registry.ts";
import { listQuery } from "../../../api/queries.ts";

const PAGE_SIZE = 50;

/** By day or by month: what the address of the page has. */
export type UsageSearch = { group?: string; by?: string };

/** The period of a row that the page shows. */
function periodOf({ by }: UsageSearch): UsagePeriod {
  return by === "day" ? "USAGE_PERIOD_DAY" : "USAGE_PERIOD_MONTH";
}

/** The request for the rows of a group and the groups directly below it, or of the outermost ones. */
export function usageRequest(search: UsageSearch, pageSize = PAGE_SIZE) {
  const { group = "" } = search;
  return { pageSize, period: periodOf(search), ...(group !== "" && { uidp: { descendantsOf: group } }) };
}

/** Those rows, in pages of groups. */
export function usageQuery(search: UsageSearch) {
  return listQuery(listUsage, usageRequest(search));
}
