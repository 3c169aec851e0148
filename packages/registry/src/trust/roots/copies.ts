import { TrustRootState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { Row } from "@moorage/kernel/store";
import { noteSignersOf, OF_SETTINGS } from "./naming.ts";
import { shortfall, thresholdsOf } from "./thresholds.ts";
import type { TufSource } from "./tuf-source.ts";

/** The state of a mirror from which nothing was fetched so far. */
export const NOTHING_FETCHED = {
  state: TrustRootState.WAITING,
  message: "it was not fetched from the mirror yet",
} as const;

/**
 * Has a trust root fetched from this mirror soon; without one no longer. What came from another mirror, or by another
 * root, is forgotten.
 */
export async function placeCopy({ tx, wake }: Call, trustRoot: string, source: TufSource | undefined): Promise<void> {
  const place = tx.selectFrom("tuf_copies").select(["source", "interval_ms"]).where("trust_root", "=", trustRoot);
  const before = await place.executeTakeFirst();
  if (before !== undefined && before.source === source?.source && before.interval_ms === source.intervalMs) return;
  if (source !== undefined) wake("trust-roots");
  if (before !== undefined && before.source === source?.source) {
    // It is due now: the next time is by the new interval.
    const due = { interval_ms: source.intervalMs, next_time: 0 };
    await tx.updateTable("tuf_copies").set(due).where("trust_root", "=", trustRoot).execute();
    return;
  }
  await tx.deleteFrom("tuf_copies").where("trust_root", "=", trustRoot).execute();
  if (source === undefined) return;
  const { url, root, intervalMs } = source;
  await tx
    .insertInto("tuf_copies")
    .values({
      trust_root: trustRoot,
      source: source.source,
      url,
      root,
      interval_ms: intervalMs,
      metadata: "",
      trusted_root: "",
      expire_time: null,
      refresh_time: null,
      next_time: 0,
      ...NOTHING_FETCHED,
    })
    .execute();
}

/** Has the trust root of the settings fetched from their mirror; without one no longer. */
export const placeTufMirror = command(
  "trust.placeTufMirror",
  async (call: Call, { mirror }: { mirror?: TufSource }): Promise<void> => {
    await placeCopy(call, OF_SETTINGS, mirror);
  },
);

/** A copy that is refreshed, as it was read: nothing is noted of one that has changed since. */
export type ReadCopy = Pick<Row<"tuf_copies">, "trust_root" | "source" | "next_time">;

/** What came of refreshing a copy: either all that was fetched, or why nothing was. */
export type CopyChange = Pick<Row<"tuf_copies">, "next_time" | "state" | "message"> &
  Partial<Pick<Row<"tuf_copies">, "metadata" | "trusted_root" | "expire_time" | "refresh_time">>;

/** Notes what came of refreshing a copy. What is signed is verified anew where another root counts than before. */
export const noteTufRefresh = command(
  "trust.noteTufRefresh",
  async (call: Call, { copy, change }: { copy: ReadCopy; change: CopyChange }): Promise<{ isNoted: boolean }> => {
    const { tx } = call;
    const { trust_root: trustRoot, source, next_time: nextMs } = copy;
    const before = await tx
      .selectFrom("tuf_copies")
      .select(["trusted_root", "state"])
      .where("trust_root", "=", trustRoot)
      .where("source", "=", source)
      .where("next_time", "=", nextMs)
      .executeTakeFirst();
    if (before === undefined) return { isNoted: false };
    await tx.updateTable("tuf_copies").set(change).where("trust_root", "=", trustRoot).execute();
    const { state, message, refresh_time } = change;
    const after = { state, message, trusted_root: change.trusted_root ?? before.trusted_root };
    await noteRootState(call, trustRoot, after, refresh_time);
    if (countingRoot(before) !== countingRoot(after)) await noteSignersOf(call, trustRoot);
    return { isNoted: true };
  },
);

/** Notes at a trust root what its copy is worth: as it is fetched, and by the root's own thresholds. */
export async function noteRootState(
  { tx }: Pick<Call, "tx">,
  trustRoot: string,
  copy: Pick<Row<"tuf_copies">, "state" | "message" | "trusted_root">,
  refreshMs?: number | null,
): Promise<void> {
  const row = await tx
    .selectFrom("trust_roots")
    .select(["log_threshold", "sct_threshold", "timestamp_threshold"])
    .where("uid", "=", trustRoot)
    .executeTakeFirst();
  if (row === undefined) return;
  const json = countingRoot(copy);
  const short = json === "" ? undefined : shortfall(json, thresholdsOf(row));
  const state = short === undefined ? copy.state : TrustRootState.TOO_FEW;
  const message = [short, copy.message].filter((each) => each !== undefined && each !== "").join("; ");
  await tx
    .updateTable("trust_roots")
    .set({ state, message, ...(refreshMs !== undefined && { refresh_time: refreshMs }) })
    .where("uid", "=", trustRoot)
    .execute();
}

/** The trusted root by which is verified; empty for none. */
export function countingRoot({ state, trusted_root: root }: Pick<Row<"tuf_copies">, "state" | "trusted_root">): string {
  return state === TrustRootState.READY || state === TrustRootState.FAILED ? root : "";
}
