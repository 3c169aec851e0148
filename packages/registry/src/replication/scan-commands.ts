import { ReplicationDeletions, ReplicationItemState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Row, select } from "@moorage/kernel/store";
import { DELETIONS_MS, isTooMany } from "../registry/index.ts";
import { intervalMs, retryItems } from "./turns.ts";

const { PENDING, RUNNING, DONE, BLOCKED } = ReplicationItemState;

/** A tag that is to be pushed. */
export interface MovedTag {
  repository: string;
  repo: string;
  tag: string;
  digest: string;
  /** When it moved to the digest, in milliseconds since 1970. */
  moveTime: number;
}

/** Has tags pushed. Those that are being pushed follow when that has ended. */
export const queueMoves = command(
  "replication.queueMoves",
  async (call: Call, { replication, moved }: { replication: string; moved: readonly MovedTag[] }): Promise<void> => {
    if ((await ruleOf(call, replication)) === undefined) return;
    const { tx, agreedMs, nowMs } = call;
    for (const { repository, repo, tag, digest, moveTime } of moved) {
      const what = { repo, digest, move_time: moveTime };
      const waiting = { ...what, state: PENDING, attempts: 0, reason: "", holder: "", hold_until: agreedMs };
      const none = { pushed_digest: "", put_digest: "", attempt_time: null, end_time: null, upload: "" };
      const known = await tx
        .selectFrom("replication_items")
        .select(["digest", "repo", "state", "move_time"])
        .where("replication", "=", replication)
        .where("repository", "=", repository)
        .where("tag", "=", tag)
        .executeTakeFirst();
      if (known?.digest === digest && known.repo === repo && known.move_time === moveTime) continue;
      if (known === undefined)
        await tx
          .insertInto("replication_items")
          .values({ replication, repository, tag, ...waiting, ...none, wait_time: nowMs, bytes: 0, sent_bytes: 0 })
          .execute();
      else
        await tx
          .updateTable("replication_items")
          .set(known.state === RUNNING ? what : { ...waiting, wait_time: nowMs })
          .where("replication", "=", replication)
          .where("repository", "=", repository)
          .where("tag", "=", tag)
          .execute();
    }
    call.wake("replications");
  },
);

/** A tag that is gone. */
export interface GoneTag {
  repository: string;
  tag: string;
}

/** Follows deletions here by what the rule says of them. */
export const queueGone = command(
  "replication.queueGone",
  async (call: Call, { replication, gone }: { replication: string; gone: readonly GoneTag[] }): Promise<void> => {
    const rule = await ruleOf(call, replication);
    if (rule === undefined) return;
    const deletes = rule.deletions === ReplicationDeletions.FOLLOW;
    const rejection = deletes && rule.forced === 0 ? await tooMany(call, replication, gone.length) : undefined;
    for (const { repository, tag } of gone) {
      const one = call.tx
        .updateTable("replication_items")
        .set({ digest: "", attempts: 0, holder: "", wait_time: call.nowMs, ...stateOf(call, deletes, rejection) })
        .where("replication", "=", replication)
        .where("repository", "=", repository)
        .where("tag", "=", tag)
        .where("state", "!=", RUNNING);
      await one.execute();
    }
    // What was never pushed leaves nothing there.
    await call.tx
      .deleteFrom("replication_items")
      .where("replication", "=", replication)
      .where("digest", "=", "")
      .where("pushed_digest", "=", "")
      .where("put_digest", "=", "")
      .where("state", "!=", RUNNING)
      .execute();
    if (deletes && rejection === undefined) call.wake("replications");
  },
);

function stateOf(
  { agreedMs }: Call,
  deletes: boolean,
  rejection: string | undefined,
): Pick<Row<"replication_items">, "state" | "hold_until" | "reason"> {
  if (!deletes) return { state: DONE, hold_until: 0, reason: "deleted here; the destination keeps it" };
  if (rejection !== undefined) return { state: BLOCKED, hold_until: 0, reason: rejection };
  return { state: PENDING, hold_until: agreedMs, reason: "" };
}

/** Why so many deletions are not followed; undefined when they are. */
async function tooMany({ tx, nowMs }: Call, replication: string, more: number): Promise<string | undefined> {
  const [found] = await select<{ all: number; going: number | null }>(
    tx,
    `select count(*) as "all",
       sum(case when digest = '' and (state in (?, ?) or wait_time > ?) then 1 else 0 end) as going
     from replication_items where replication = ? and (pushed_digest <> '' or put_digest <> '' or wait_time > ?)
       and state <> ?`,
    [PENDING, BLOCKED, nowMs - DELETIONS_MS, replication, nowMs - DELETIONS_MS, RUNNING],
  );
  const all = Number(found?.all ?? 0);
  const going = Number(found?.going ?? 0) + more;
  if (!isTooMany(going, all)) return undefined;
  return `${going} of ${all} tags would be deleted there, more than a tenth: a run with force deletes them`;
}

/** Ends a comparison of all tags. Does nothing when another one was requested meanwhile. */
export const endScan = command(
  "replication.endScan",
  async (
    call: Call,
    {
      rule,
      startMs,
      problem,
      isWhole,
    }: { rule: Row<"replications">; startMs: number; problem: string; isWhole: boolean },
  ): Promise<void> => {
    const now = await ruleOf(call, rule.uid);
    if (now === undefined || now.update_time !== rule.update_time) return;
    const everyMs = intervalMs(now);
    const next = { forced: 0, scan_time: everyMs === undefined ? null : call.agreedMs + everyMs };
    // What a run began has been taken up again then.
    if (isWhole && rule.seen_time !== 0) await retryItems(call, rule.uid, false);
    await call.tx
      .updateTable("replications")
      .set({ seen_time: startMs, problem, ...(isWhole && next) })
      .where("uid", "=", rule.uid)
      .execute();
    if (isWhole) call.wake("replications");
  },
);

/** Has images looked at again to which something may have been attached since. */
export const requeueAttached = command(
  "replication.requeueAttached",
  async ({ tx, agreedMs, nowMs, wake }: Call, { replication }: { replication: string }): Promise<void> => {
    const again = await select(
      tx,
      `update replication_items set state = ?, attempts = 0, hold_until = ?, wait_time = ?
       where replication = ? and state = ? and digest <> '' and (exists (select 1 from manifests as m
           where m.repo = replication_items.repo and m.subject = replication_items.digest
             and m.create_time > replication_items.attempt_time)
         or exists (select 1 from tags as t where t.parent = replication_items.repo
           and t.name >= replace(replication_items.digest, ':', '-')
           and t.name < replace(replication_items.digest, ':', '-') || '/'
           and t.update_time > replication_items.attempt_time)) returning tag`,
      [PENDING, agreedMs, nowMs, replication, DONE],
    );
    if (again.length > 0) wake("replications");
  },
);

async function ruleOf({ tx }: Call, uid: string): Promise<Row<"replications"> | undefined> {
  return await tx.selectFrom("replications").selectAll().where("uid", "=", uid).executeTakeFirst();
}

/** The commands of comparisons. */
export const scanCommands = [queueMoves, queueGone, endScan, requeueAttached] as const;
