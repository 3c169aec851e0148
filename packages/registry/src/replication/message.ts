import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type Replication,
  type ReplicationConflict,
  type ReplicationDeletions,
  type ReplicationItem,
  ReplicationItemSchema,
  ReplicationItemState,
  ReplicationSchema,
  ReplicationStateSchema,
} from "@moorage/api/messages";
import { type Call, timeOfDayMs } from "@moorage/kernel/core/call";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { type Database, type Row, select } from "@moorage/kernel/store";

/** A replication without its state, and without its password. */
export function replicationInit(row: Row<"replications">): MessageInitShape<typeof ReplicationSchema> {
  return {
    uid: row.uid,
    name: row.name,
    description: row.description,
    repoPattern: row.repo_pattern,
    tagPattern: row.tag_pattern,
    destination: row.destination,
    username: row.username,
    destinationIdentity: row.destination_identity,
    flatten: row.flatten === 1,
    onPush: row.on_push === 1,
    ...(row.interval_s !== null && { interval: { seconds: BigInt(row.interval_s) } }),
    deletions: row.deletions as ReplicationDeletions,
    onConflict: row.on_conflict as ReplicationConflict,
    bytesPerSecond: BigInt(row.bytes_per_second),
    disabled: row.disabled === 1,
    createTime: timestamp(row.create_time),
    updateTime: timestamp(row.update_time),
  };
}

/** The columns that an update can change. */
export function replicationColumns(
  message: Replication,
): Pick<
  Row<"replications">,
  | "name"
  | "description"
  | "repo_pattern"
  | "tag_pattern"
  | "destination"
  | "username"
  | "destination_identity"
  | "flatten"
  | "on_push"
  | "interval_s"
  | "deletions"
  | "on_conflict"
  | "bytes_per_second"
  | "disabled"
> {
  return {
    name: message.name,
    description: message.description,
    repo_pattern: message.repoPattern,
    tag_pattern: message.tagPattern,
    destination: message.destination,
    username: message.username,
    destination_identity: message.destinationIdentity,
    flatten: message.flatten ? 1 : 0,
    on_push: message.onPush ? 1 : 0,
    interval_s: message.interval === undefined ? null : Number(message.interval.seconds),
    deletions: message.deletions,
    on_conflict: message.onConflict,
    bytes_per_second: Number(message.bytesPerSecond),
    disabled: message.disabled ? 1 : 0,
  };
}

interface Counted {
  state: number;
  n: number;
  waiting: number | null;
  sent: number | null;
  last: number | null;
}

/** A replication with how far it is, read from its items. */
export async function withState(call: Call, row: Row<"replications">): Promise<Replication> {
  const counted = await select<Counted>(
    call.tx,
    `select state, count(*) as n, min(wait_time) as waiting, sum(sent_bytes) as sent, max(end_time) as last
     from replication_items where replication = ? group by state`,
    [row.uid],
  );
  const of = (...states: ReplicationItemState[]): Counted[] =>
    counted.filter(({ state }) => states.includes(state as ReplicationItemState));
  const count = (...states: ReplicationItemState[]): bigint =>
    BigInt(of(...states).reduce((sum, { n }) => sum + Number(n), 0));
  const { PENDING, RUNNING, FAILED, BLOCKED, STOPPED } = ReplicationItemState;
  const since = Math.min(...of(PENDING, RUNNING).map(({ waiting }) => waiting ?? Infinity));
  const last = Math.max(0, ...counted.map(({ last: ended }) => ended ?? 0));
  const replication = create(ReplicationSchema, replicationInit(row));
  replication.state = create(ReplicationStateSchema, {
    pending: count(PENDING, STOPPED),
    running: count(RUNNING),
    failed: count(FAILED),
    blocked: count(BLOCKED),
    bytes: counted.reduce((sum, { sent }) => sum + BigInt(sent ?? 0), 0n),
    ...(Number.isFinite(since) && { late: { seconds: BigInt(Math.max(0, Math.floor((call.nowMs - since) / 1000))) } }),
    ...(last > 0 && { lastSuccessTime: timestamp(last) }),
    lastError: row.problem || ((await newestProblem(call.tx, row.uid)) ?? ""),
  });
  return replication;
}

/** What the item says that was attempted last of those with something wrong; undefined when none has. */
async function newestProblem(tx: Database, replication: string): Promise<string | undefined> {
  const { PENDING, FAILED, BLOCKED, STOPPED } = ReplicationItemState;
  const found = await tx
    .selectFrom("replication_items")
    .select(["repository", "tag", "reason"])
    .where("replication", "=", replication)
    .where("state", "in", [PENDING, FAILED, BLOCKED, STOPPED])
    .where("reason", "!=", "")
    .orderBy("attempt_time", "desc")
    .limit(1)
    .executeTakeFirst();
  return found && `${found.repository}:${found.tag}: ${found.reason}`;
}

/** An item as it is answered. */
export function itemMessage(call: Call, row: Row<"replication_items">): ReplicationItem {
  const state = stateOf(call, row);
  return create(ReplicationItemSchema, {
    repository: row.repository,
    tag: row.tag,
    digest: row.digest,
    state,
    attempts: row.attempts,
    ...(state === ReplicationItemState.PENDING && {
      nextTime: timestamp(timeOfDayMs(call, Math.max(row.hold_until, call.agreedMs))),
    }),
    message: row.reason,
    bytes: BigInt(row.bytes),
  });
}

/** What was under way in a process that died waits. */
function stateOf({ agreedMs }: Call, { state, hold_until: until }: Row<"replication_items">): ReplicationItemState {
  return state === ReplicationItemState.RUNNING && until <= agreedMs
    ? ReplicationItemState.PENDING
    : (state as ReplicationItemState);
}
