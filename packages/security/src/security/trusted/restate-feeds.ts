import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, takeAdvisoryLock } from "@moorage/kernel/store";
import { CATALOGING } from "../catalog/command-options.ts";
import { readState, writeState } from "../causes/matching-state.ts";
import { restateRecord } from "./restate.ts";

const BATCH_RECORDS = 100;
const BATCH_CHARS = 2 << 20;

/** Up to which record of a feed, and for which change of what it may decide about. */
type Position = [mark: string, record: string];

/**
 * Goes on with a feed that may decide about other products than before: looks at its next records. See
 * `feeds.restate`. Answers whether there was nothing to do.
 */
export const restateFeeds = command(
  "security.restateFeeds",
  async (call: Call): Promise<{ opened: number; closed: number; isDone: boolean }> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "catalogs");
    const feed = await nextFeed(tx);
    if (feed === undefined) return { opened: 0, closed: 0, isDone: true };
    const { name, restate: mark } = feed;
    const { position } = await readState(tx, "statements");
    const [begun, last] = (position === "" ? ["", ""] : JSON.parse(position)) as Position;
    const records = await nextRecords(tx, name, begun === mark ? last : "");
    let changed = false;
    for (const id of records) if (await restateRecord(call, { feed: name, id })) changed = true;
    const end = records.at(-1);
    // Another mark: its products have changed again meanwhile, and it is begun anew.
    if (end === undefined)
      await tx.updateTable("feeds").set({ restate: "" }).where("name", "=", name).where("restate", "=", mark).execute();
    await noteRestated(call, changed, end === undefined ? "" : JSON.stringify([mark, end] satisfies Position));
    return { opened: 0, closed: 0, isDone: false };
  },
  CATALOGING,
);

/**
 * Notes when statements of feeds last changed, by a number that only grows: the time, in milliseconds since 1970, or
 * one more than before.
 */
export async function noteRestated({ tx, nowMs }: Pick<Call, "tx" | "nowMs">, changed = true, position?: string) {
  const state = await readState(tx, "statements");
  const value = changed ? Math.max(state.value + 1, nowMs) : state.value;
  await writeState(tx, "statements", { value, position: position ?? state.position });
}

async function nextFeed(db: Database): Promise<{ name: string; restate: string } | undefined> {
  return await db
    .selectFrom("feeds")
    .select(["name", "restate"])
    .where("restate", "<>", "")
    .orderBy("name")
    .limit(1)
    .executeTakeFirst();
}

/** The next records of the feed, as many as one transaction reads: one at least. */
async function nextRecords(tx: Database, feed: string, after: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("feed_records")
    .select(({ fn }) => ["id", fn<number>("length", ["body"]).as("chars")])
    .where("feed", "=", feed)
    .where("id", ">", after)
    .orderBy("id")
    .limit(BATCH_RECORDS)
    .execute();
  let chars = 0;
  return rows.filter((row, at) => (chars += row.chars) <= BATCH_CHARS || at === 0).map(({ id }) => id);
}
