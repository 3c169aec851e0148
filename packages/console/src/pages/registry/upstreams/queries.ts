import {
  detachRegistryUpstream,
  getRegistryUpstream,
  listRegistryUpstreams,
  type RegistryUpstream,
} from "../../../api/gen/registry.ts";
import { listQuery, query } from "../../../api/queries.ts";
import type { ListSearch } from "../../access/queries.ts";

const PAGE_SIZE = 100;
/** After how many milliseconds a page about one upstream reads it again. */
export const POLL_MS = 3_000;

/** The upstreams of a group and those below it. */
export const registryUpstreamsList = ({ group, order }: ListSearch) =>
  listQuery(listRegistryUpstreams, {
    pageSize: PAGE_SIZE,
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
    ...(order !== undefined && { orderBy: order }),
  });

/** One upstream, with how it answered last. */
export const registryUpstreamQuery = (uid: string) => query(getRegistryUpstream, { uid });

/** What would stay if the upstream was detached now; nothing is changed. */
export const detachPreviewQuery = (uid: string) => ({
  ...query(detachRegistryUpstream, { uid, validateOnly: true }),
  gcTime: 0,
  staleTime: 0,
});

/** After how many milliseconds these are read again: as long as one of them copies what it follows. */
export function pollMs(upstreams: readonly RegistryUpstream[] | undefined): number | false {
  return upstreams?.some((each) => !each.disabled && isMoving(each)) === true ? POLL_MS : false;
}

function isMoving({ followState }: RegistryUpstream): boolean {
  return followState?.state === "SYNC_STATE_PENDING" || followState?.state === "SYNC_STATE_RUNNING";
}
