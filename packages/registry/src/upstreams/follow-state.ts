import { create, fromJsonString, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { type UpstreamFollowState, UpstreamFollowStateSchema, SyncState } from "@moorage/api/messages";
import { type Call, timeOfDayMs } from "@moorage/kernel/core/call";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import type { Database, Row } from "@moorage/kernel/store";

/** What of `upstream_follows` is shown. */
type Shown = Pick<Row<"upstream_follows">, "next_time" | "success_time" | "failures">;

/** The state of `registry_upstreams.follow_state`. */
export function followStateOf(column: string | null): UpstreamFollowState {
  return column === null ? create(UpstreamFollowStateSchema) : fromJsonString(UpstreamFollowStateSchema, column);
}

/** Writes how the copying of an upstream goes: what `change` names, and when the next turn is due. */
export async function writeFollowState(
  call: Call,
  upstream: string,
  { next_time: next, success_time: success, failures }: Shown,
  change: MessageInitShape<typeof UpstreamFollowStateSchema>,
): Promise<void> {
  const before = await call.tx
    .selectFrom("registry_upstreams")
    .select("follow_state")
    .where("uid", "=", upstream)
    .executeTakeFirst();
  if (before === undefined) return;
  const { $typeName: _, ...known } = followStateOf(before.follow_state);
  const state = create(UpstreamFollowStateSchema, {
    ...known,
    nextTime: timestamp(timeOfDayMs(call, next)),
    ...(success !== null && { lastSuccessTime: timestamp(success) }),
    consecutiveFailures: failures,
    ...change,
  });
  await storeFollowState(call.tx, upstream, toJsonString(UpstreamFollowStateSchema, state));
}

async function storeFollowState(tx: Database, upstream: string, text: string | null): Promise<void> {
  await tx.updateTable("registry_upstreams").set({ follow_state: text }).where("uid", "=", upstream).execute();
}

/** Begins to follow a registry, or anew by other rules: a turn is due now, and one under way ends. */
export async function beginFollowing(call: Call, upstream: string): Promise<void> {
  const due = { next_time: call.agreedMs, holder: "", hold_until: 0, turn_time: null, failures: 0, forced: 0 };
  const fresh = { ...due, begin_time: call.nowMs, success_time: null };
  await call.tx
    .insertInto("upstream_follows")
    .values({ upstream, ...fresh })
    .onConflict((on) => on.column("upstream").doUpdateSet(fresh))
    .execute();
  // What other rules copied says nothing of these.
  await call.tx
    .updateTable("upstream_repos")
    .set({ follow_time: null, follow_tags: 0, missing_tags: 0 })
    .where("upstream", "=", upstream)
    .execute();
  await storeFollowState(call.tx, upstream, null);
  await writeFollowState(call, upstream, fresh, { state: SyncState.PENDING });
  call.wake("mirrors");
}

/** Ends that a registry is followed. */
export async function endFollowing({ tx }: Call, upstream: string): Promise<void> {
  await tx.deleteFrom("upstream_follows").where("upstream", "=", upstream).execute();
  await storeFollowState(tx, upstream, null);
}

/** Makes a turn due now; if one is under way, another follows it. `force`: that one deletes whatever is gone there. */
export async function requestTurn(call: Call, upstream: string, force: boolean): Promise<void> {
  const due = { next_time: call.agreedMs, forced: force ? 1 : 0 };
  const row = await call.tx
    .updateTable("upstream_follows")
    .set(due)
    .where("upstream", "=", upstream)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return;
  const isRunning = row.hold_until > call.agreedMs;
  await writeFollowState(call, upstream, row, { ...(!isRunning && { state: SyncState.PENDING }) });
  call.wake("mirrors");
}

/**
 * Takes a turn under way from its process, so that it ends; the next process that claims it goes on with it. The next
 * turn of a Moorage compares all: what is followed may have changed.
 */
export async function interruptTurn(call: Call, upstream: string): Promise<void> {
  const row = await call.tx
    .updateTable("upstream_follows")
    .set({ holder: "", hold_until: 0 })
    .where("upstream", "=", upstream)
    .where("hold_until", ">", call.agreedMs)
    .returningAll()
    .executeTakeFirst();
  const known = row ?? (await followOf(call, upstream));
  if (known !== undefined)
    await writeFollowState(call, upstream, known, {
      lastComparisonTime: undefined,
      ...(row !== undefined && { state: SyncState.PENDING }),
    });
  call.wake("mirrors");
}

async function followOf({ tx }: Call, upstream: string): Promise<Shown | undefined> {
  return await tx.selectFrom("upstream_follows").selectAll().where("upstream", "=", upstream).executeTakeFirst();
}
