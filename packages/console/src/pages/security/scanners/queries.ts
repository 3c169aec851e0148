import { listScanners } from "../../../api/gen/vulnerabilities.ts";
import { listQuery } from "../../../api/queries.ts";

const PAGE_SIZE = 100;

/** The scanners of a group and those below it, or all that the person sees. */
export function scannersList({ group, order }: { group?: string; order?: string }) {
  return listQuery(listScanners, {
    pageSize: PAGE_SIZE,
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
    ...(order !== undefined && { orderBy: order }),
  });
}
