import { getTrustRoot, listTrustRoots, type TrustRoot } from "../../../../api/gen/registry.ts";
import { listQuery, query } from "../../../../api/queries.ts";
import { allOf } from "../../../access/parts/all-pages.ts";
import type { ListSearch } from "../../../access/queries.ts";

const PAGE_SIZE = 100;
const POLL_MS = 3_000;

/** The trust roots of a group and those below it. */
export const trustRootsList = ({ group, order }: ListSearch) =>
  listQuery(listTrustRoots, {
    pageSize: PAGE_SIZE,
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
    ...(order !== undefined && { orderBy: order }),
  });

/** One trust root. */
export const trustRootQuery = (uid: string) => query(getTrustRoot, { uid });

/** All trust roots that the person sees. */
export const allTrustRootsQuery = allOf(listTrustRoots, {}, ({ trustRoots }) => trustRoots);

/** After how many milliseconds these are read again: what was not fetched yet soon is, or has failed. */
export function pollMs(roots: readonly TrustRoot[] | undefined): number | false {
  return roots?.some(({ state }) => state === "TRUST_ROOT_STATE_WAITING") === true ? POLL_MS : false;
}
