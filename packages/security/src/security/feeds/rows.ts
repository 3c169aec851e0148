import { type Database, type Row, select } from "@moorage/kernel/store";

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

/**
 * Removes the keys of records, but leaves those ids of vulnerabilities, as `former`, by which findings of the record
 * that are closed or will be are found. The ids of records of distributions are about one package, so only their
 * aliases, and what they are records of.
 */
async function keepFormerKeys(tx: Database, feed: string, records: readonly string[]): Promise<void> {
  for (let at = 0; at < records.length; at += ROWS_PER_STATEMENT) {
    const some = records.slice(at, at + ROWS_PER_STATEMENT);
    const among = some.map(() => "?").join(", ");
    await select(
      tx,
      `insert into feed_keys (kind, key, feed, record) select distinct 'former', k.key, k.feed, k.record from feed_keys as k
       join feeds as f on f.name = k.feed where k.feed = ? and k.record in (${among})
       and (k.kind in ('alias', 'upstream') or (k.kind = 'id' and f.format in ('osv', 'kev', 'epss')))
       and exists (select 1 from package_findings as p where p.feed = k.feed and p.record = k.record)
       on conflict do nothing`,
      [feed, ...some],
    );
    await tx
      .deleteFrom("feed_keys")
      .where("feed", "=", feed)
      .where("record", "in", some)
      .where("kind", "<>", "former")
      .execute();
  }
}

/** The feed no longer has these records: their rows stay, without content, with new change numbers. */
export async function markRemoved(tx: Database, feed: string, ids: readonly string[]): Promise<void> {
  const first = await takeNumbers(tx, ids.length);
  await keepFormerKeys(tx, feed, ids);
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
