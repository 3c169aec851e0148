import {
  getReplication,
  listReplicationItems,
  listReplications,
  type Replication,
  type ReplicationItemState,
} from "../../../api/gen/registry.ts";
import { listQuery, query } from "../../../api/queries.ts";
import type { ListSearch } from "../../access/queries.ts";

const PAGE_SIZE = 100;
/** After how many milliseconds a page about one replication reads it again. */
export const POLL_MS = 3_000;

/** The replications of a group and those below it. */
export const replicationsList = ({ group, order }: ListSearch) =>
  listQuery(listReplications, {
    pageSize: PAGE_SIZE,
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
    ...(order !== undefined && { orderBy: order }),
  });

/** One replication, with how far it is. */
export const replicationQuery = (uid: string) => query(getReplication, { uid });

/** The items of a replication, those of a state or all. */
export const itemsQuery = (uid: string, state: ReplicationItemState | undefined) =>
  listQuery(listReplicationItems, { uid, pageSize: PAGE_SIZE, ...(state !== undefined && { states: [state] }) });

/** After how many milliseconds these are read again: as long as one of them pushes, or was not compared yet. */
export function pollMs(replications: readonly Replication[] | undefined): number | false {
  return replications?.some((each) => !each.disabled && isMoving(each)) === true ? POLL_MS : false;
}

function isMoving({ state, onPush, interval }: Replication): boolean {
  if (state === undefined) return true;
  const isUntouched = state.lastSuccessTime === undefined && state.lastError === "";
  return state.pending !== "0" || state.running !== "0" || (isUntouched && (onPush || interval !== undefined));
}
