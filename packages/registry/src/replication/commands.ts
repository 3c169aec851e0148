import { ReplicationItemState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { Row } from "@moorage/kernel/store";
import { scanCommands } from "./scan-commands.ts";
import { delayAfter, ITEMS, MAX_ATTEMPTS } from "./queue.ts";

// The commands by which items are pushed. The server itself acts, so no capabilities are checked.

const { PENDING, RUNNING, BLOCKED } = ReplicationItemState;
const MAX_REASON = 1_000;

/** An item by its key. */
interface ItemKey {
  replication: string;
  repository: string;
  tag: string;
}

/** An item that a process holds. */
export type HeldItem = ItemKey & { holder: string };

/** An item that was claimed, and its rule. */
export interface ClaimedItem {
  item: Row<"replication_items">;
  rule: Row<"replications">;
}

/** Claims the item that is due first of the rules that are not `busy`. Undefined when none is. */
export const claimItem = command(
  "replication.claimItem",
  async (
    call: Call,
    { holder, busy }: { holder: string; busy: readonly string[] },
  ): Promise<ClaimedItem | "failed" | undefined> => {
    const due = await call.tx
      .selectFrom("replication_items as i")
      .innerJoin("replications as r", "r.uid", "i.replication")
      .selectAll("i")
      .where("i.state", "in", [PENDING, RUNNING])
      .where("i.hold_until", "<=", call.agreedMs)
      .where("r.disabled", "=", 0)
      .where("r.held_until", "<=", call.agreedMs)
      .$if(busy.length > 0, (query) => query.where("i.replication", "not in", busy))
      .orderBy("i.hold_until")
      .limit(1)
      .executeTakeFirst();
    if (due === undefined) return undefined;
    const { replication, repository, tag, attempts, reason } = due;
    const outcome = await ITEMS.claim(
      call,
      { replication, repository, tag, attempts, reason },
      {
        holder,
        maxAttempts: MAX_ATTEMPTS,
        reason: "it was begun too often without coming to an end",
        set: { state: RUNNING, attempt_time: call.nowMs },
      },
    );
    if (outcome !== "held") return "failed";
    const rule = await call.tx
      .selectFrom("replications")
      .selectAll()
      .where("uid", "=", replication)
      .executeTakeFirstOrThrow();
    return { item: { ...due, attempts: attempts + 1 }, rule };
  },
);

/** Holds the item for longer. `held` is false when it is no longer to be pushed. */
export const holdItem = command(
  "replication.holdItem",
  async (call: Call, item: HeldItem): Promise<{ held: boolean }> => await ITEMS.isHeld(call, item),
);

/** Notes what is about to be put under a tag. `held` is false when it must not be. */
export const notePut = command(
  "replication.notePut",
  async (call: Call, { digest, ...item }: HeldItem & { digest: string }): Promise<{ held: boolean }> => {
    if ((await ITEMS.renew(call, item, ["tag"])) === undefined) return { held: false };
    await change(call, item, { put_digest: digest });
    return { held: true };
  },
);

/** Notes an upload that another attempt can resume. */
export const noteUpload = command(
  "replication.noteUpload",
  async (call: Call, { upload, ...item }: HeldItem & { upload: string }): Promise<void> => {
    if ((await ITEMS.renew(call, item, ["tag"])) !== undefined) await change(call, item, { upload });
  },
);

/** Notes that a tag by which something is attached is, or is about to be at the destination. */
export const noteAttached = command(
  "replication.noteAttached",
  async (
    call: Call,
    { item, tag, repo, digest, isPut }: { item: HeldItem; tag: string; repo: string; digest: string; isPut: boolean },
  ): Promise<{ held: boolean }> => {
    if ((await ITEMS.renew(call, item, ["tag"])) === undefined) return { held: false };
    const { replication, repository } = item;
    const set = isPut
      ? { digest, pushed_digest: digest, put_digest: "", end_time: call.nowMs }
      : { digest, put_digest: digest };
    const none = {
      holder: "",
      hold_until: 0,
      attempts: 0,
      reason: "",
      upload: "",
      bytes: 0,
      sent_bytes: 0,
      move_time: 0,
    };
    await call.tx
      .insertInto("replication_items")
      .values({
        ...none,
        replication,
        repository,
        tag,
        repo,
        pushed_digest: "",
        state: ReplicationItemState.DONE,
        wait_time: call.nowMs,
        attempt_time: call.nowMs,
        end_time: null,
        ...set,
      })
      .onConflict((on) => on.columns(["replication", "repository", "tag"]).doUpdateSet({ repo, ...set }))
      .execute();
    return { held: true };
  },
);

/** What an attempt came to. */
export interface Ended {
  item: HeldItem;
  /** When its tag moved, as it was claimed. */
  moveTime: number;
  /** Bytes that it sent. */
  bytes: number;
  /** What the destination has; undefined when that is not known. */
  pushed?: string;
  /** What there is to say. */
  reason: string;
  outcome: "done" | "outdated" | "blocked" | "failed" | "released";
  /** What was outdated, since the destination moved later. */
  tried?: string;
  /** After how many milliseconds the destination asks to come back. */
  retryAfterMs?: number;
  /** Whether it asks that of all. */
  isLimited?: boolean;
}

/** Records how an attempt ended, and gives the item back. Does nothing when the item is no longer held. */
export const endAttempt = command("replication.endAttempt", async (call: Call, ended: Ended): Promise<void> => {
  const { item, bytes, pushed, tried, outcome, retryAfterMs, isLimited } = ended;
  const reason = ended.reason.slice(0, MAX_REASON);
  const row = await ITEMS.renew(call, item, ["digest", "move_time", "sent_bytes", "attempts"]);
  if (row === undefined) return;
  await change(call, item, {
    bytes,
    sent_bytes: row.sent_bytes + bytes,
    ...(pushed !== undefined && { pushed_digest: pushed, put_digest: "", upload: "" }),
  });
  if (outcome === "released") return await ITEMS.release(call, item);
  if (outcome === "done" || outcome === "outdated") {
    const had = outcome === "done" ? { end_time: call.nowMs } : { put_digest: "" };
    // It moved meanwhile.
    if (row.digest !== (tried ?? pushed) || row.move_time !== ended.moveTime)
      return await ITEMS.end(call, item, {
        state: PENDING,
        hold_until: call.agreedMs,
        attempts: 0,
        wait_time: call.nowMs,
        ...had,
      });
    return await ITEMS.finish(call, item, { reason, ...had });
  }
  if (outcome === "blocked") return await ITEMS.end(call, item, { state: BLOCKED, reason });
  await ITEMS.failAttempt(call, item, { reason, delayOf: (attempts) => delayAfter(attempts, retryAfterMs) });
  if (isLimited === true && retryAfterMs !== undefined)
    await call.tx
      .updateTable("replications")
      .set({ held_until: call.agreedMs + Math.ceil(retryAfterMs) })
      .where("uid", "=", item.replication)
      .execute();
});

async function change(
  { tx }: Call,
  { replication, repository, tag }: ItemKey,
  set: Partial<Row<"replication_items">>,
): Promise<void> {
  await tx
    .updateTable("replication_items")
    .set(set)
    .where("replication", "=", replication)
    .where("repository", "=", repository)
    .where("tag", "=", tag)
    .execute();
}

/** The commands of replications beside the methods of the API. */
export const replicationCommands = [
  claimItem,
  holdItem,
  notePut,
  noteUpload,
  noteAttached,
  endAttempt,
  ...scanCommands,
] as const;
