import type { Database, Row } from "../../store/index.ts";

/** Rows per statement, below the parameter limit of every engine. */
export const ROWS_PER_STATEMENT = 500;

/** Takes `count` change numbers; returns the first. Transactions that take some wait for each other. */
export async function takeNumbers(tx: Database, count: number): Promise<number> {
  const { value } = await tx
    .insertInto("feed_changes")
    .values({ name: "records", value: count })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet((eb) => ({ value: eb("feed_changes.value", "+", count) })),
    )
    .returning("value")
    .executeTakeFirstOrThrow();
  return value - count + 1;
}

export async function putRecords(tx: Database, rows: readonly Row<"feed_records">[]): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT)
    await tx
      .insertInto("feed_records")
      .values(rows.slice(at, at + ROWS_PER_STATEMENT))
      .onConflict((conflict) =>
        conflict.columns(["feed", "id"]).doUpdateSet((eb) => ({
          modified: eb.ref("excluded.modified"),
          withdrawn: eb.ref("excluded.withdrawn"),
          removed: eb.ref("excluded.removed"),
          hash: eb.ref("excluded.hash"),
          severity: eb.ref("excluded.severity"),
          score_tenths: eb.ref("excluded.score_tenths"),
          body: eb.ref("excluded.body"),
          change: eb.ref("excluded.change"),
        })),
      )
      .execute();
}

export async function insertKeys(tx: Database, rows: readonly Row<"feed_keys">[]): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT)
    await tx
      .insertInto("feed_keys")
      .values(rows.slice(at, at + ROWS_PER_STATEMENT))
      .execute();
}

export async function deleteKeys(tx: Database, feed: string, records: readonly string[]): Promise<void> {
  for (let at = 0; at < records.length; at += ROWS_PER_STATEMENT)
    await tx
      .deleteFrom("feed_keys")
      .where("feed", "=", feed)
      .where("record", "in", records.slice(at, at + ROWS_PER_STATEMENT))
      .execute();
}

/** The feed no longer has these records: their rows stay, without content, with new change numbers. */
export async function markRemoved(tx: Database, feed: string, ids: readonly string[]): Promise<void> {
  const first = await takeNumbers(tx, ids.length);
  await deleteKeys(tx, feed, ids);
  const gone = {
    modified: 0,
    withdrawn: null,
    removed: 1,
    hash: "",
    severity: "UNKNOWN",
    score_tenths: null,
    body: "",
  };
  await putRecords(
    tx,
    ids.map((id, at) => ({ ...gone, feed, id, change: first + at })),
  );
}
