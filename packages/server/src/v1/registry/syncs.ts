import { create, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { Capability, type RepoSyncSchema, ReposService, SyncState, UIDPFilterSchema } from "@moorage/api/messages";
import {
  Registry,
  RepoSyncStatusSchema,
  SyncStatus_Status as Status,
  SyncStatusListSchema,
  SyncStatusSchema,
} from "@moorage/api/v1/registry";
import { scopeOf } from "@moorage/kernel/aip/scope";
import { syncPages } from "@moorage/registry/registry";
import { reading, type Translation } from "../service.ts";
import { listed } from "../v2.ts";

type Sync = MessageInitShape<typeof RepoSyncSchema>;

export const syncs: Pick<Translation<typeof Registry>, "getSyncStatus" | "listSyncStatuses"> = {
  getSyncStatus: async (v2, { repoId: uid }) => statusOf(await v2.answer(ReposService.method.getRepoSync, { uid })),
  listSyncStatuses: reading(Registry.method.listSyncStatuses, async (call, { registryId }) => {
    const below = create(UIDPFilterSchema, { descendantsOf: registryId });
    const { roots } = scopeOf(below, await call.visible(Capability.CAP_REPO_LIST));
    return await listed(SyncStatusListSchema, syncPages(call, roots), (page) =>
      page.map((each) => create(RepoSyncStatusSchema, { repoId: each.uid, repoStatus: statusOf(each) })),
    );
  }),
};

const NOTHING: readonly [Status, undefined] = [Status.UNKNOWN, undefined];

/** The state, and the time of v2 at which it began. */
const STATES: Readonly<Record<SyncState, readonly [Status, (keyof Sync & `${string}Time`) | undefined]>> = {
  [SyncState.UNSPECIFIED]: NOTHING,
  [SyncState.PENDING]: [Status.QUEUED, "nextTime"],
  [SyncState.RUNNING]: [Status.IN_PROGRESS, "lastAttemptTime"],
  [SyncState.SUCCEEDED]: [Status.UNKNOWN, "lastSuccessTime"],
  [SyncState.FAILED]: [Status.FAILED, "lastAttemptTime"],
  // The source asked to come back later: it waits for its turn.
  [SyncState.RATE_LIMITED]: [Status.QUEUED, "lastAttemptTime"],
};

function statusOf(sync: Sync): MessageShape<typeof SyncStatusSchema> {
  const [status, since] = STATES[sync.state ?? SyncState.UNSPECIFIED] ?? NOTHING;
  const createTime = since && (sync[since] as Timestamp | undefined);
  return create(SyncStatusSchema, { status, ...(createTime && { createTime }) });
}
