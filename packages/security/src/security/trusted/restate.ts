import type { Call } from "@moorage/kernel/core/call";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { noteStatementChange } from "../causes/statement-causes.ts";
import { hashOf, MAX_DOCUMENT_CHARS, type TrustedStatement, trustedIn, VEX_FORMATS } from "../vex/trust.ts";

// The statements of feeds that count are rows of their own, which are only closed: so what they said as of a time is
// known, and a document is read once, whatever the number of images that it is about.

type StatementRow = Row<"feed_statements">;

const ROWS = 200;
const marks = (values: readonly unknown[]): string => values.map(() => "?").join(", ");

/** Those of the changes of records that may change what trusted feeds say. */
export async function changesOfStatements(tx: Database, after: number, last: number): Promise<ReadonlySet<number>> {
  const rows = await select<{ change: number }>(
    tx,
    `select r.change from feed_records as r where r.change > ? and r.change <= ? and (
       r.feed in (select name from feeds where products <> '[]' and format in (${marks(VEX_FORMATS)}))
       or exists (select 1 from feed_statements as s where s.feed = r.feed and s.record = r.id and s.until_time is null))`,
    [after, last, ...VEX_FORMATS],
  );
  return new Set(rows.map(({ change }) => change));
}

/**
 * Makes the statements of a record that count be what the record says now, and notes which images that may matter to.
 * Doing it again changes nothing. Whoever calls it holds the lock of matching. Answers whether anything changed.
 */
export async function restateRecord(call: Call, { feed, id }: { feed: string; id: string }): Promise<boolean> {
  const { tx, nowMs } = call;
  const said = new Map((await saidBy(tx, feed, id)).map((each) => [hashOf(each), each]));
  const before = await tx
    .selectFrom("feed_statements")
    .selectAll()
    .where("feed", "=", feed)
    .where("record", "=", id)
    .where("until_time", "is", null)
    .execute();
  // What is found by another key than before is stated anew.
  const ended = before.filter(({ hash, key }) => said.get(hash)?.key !== key);
  const endedHashes = new Set(ended.map(({ hash }) => hash));
  for (const { hash } of before) if (!endedHashes.has(hash)) said.delete(hash);
  if (ended.length === 0 && said.size === 0) return false;
  for (let at = 0; at < ended.length; at += ROWS)
    await tx
      .updateTable("feed_statements")
      // A clock that was set back ends nothing before it began.
      .set(({ ref, val, eb }) => ({
        until_time: eb.case().when("from_time", ">", nowMs).then(ref("from_time")).else(val(nowMs)).end(),
      }))
      .where("feed", "=", feed)
      .where("record", "=", id)
      .where(
        "n",
        "in",
        ended.slice(at, at + ROWS).map(({ n }) => n),
      )
      .execute();
  const first = await nextNumber(tx, feed, id);
  const since = new Map(ended.map((row) => [meaningOf(row), row.since]));
  const rows = [...said].map(([hash, each], at): StatementRow => {
    const { status, justification, impact, product, component, key, author, timeMs } = each;
    const remedies = JSON.stringify(each.remedies);
    const content = { ids: JSON.stringify(each.ids), status, justification, impact, product, component, key, author };
    return {
      feed,
      record: id,
      n: first + at,
      from_time: nowMs,
      until_time: null,
      since: since.get(meaningOf(content)) ?? nowMs,
      hash,
      time: timeMs,
      remedies,
      ...content,
    };
  });
  for (let at = 0; at < rows.length; at += ROWS)
    await tx
      .insertInto("feed_statements")
      .values(rows.slice(at, at + ROWS))
      .execute();
  const keys = rows.flatMap(({ key, ids, n }) =>
    [...new Set(JSON.parse(ids) as string[])].map((vulnerability) => ({ key, vulnerability, feed, record: id, n })),
  );
  for (let at = 0; at < keys.length; at += ROWS)
    await tx
      .insertInto("feed_statement_keys")
      .values(keys.slice(at, at + ROWS))
      .execute();
  await noteStatementChange(call, [...ended, ...rows]);
  return true;
}

/** What the record says now about what its feed may decide about. */
async function saidBy(tx: Database, feed: string, id: string): Promise<TrustedStatement[]> {
  const row = await tx
    .selectFrom("feed_records as r")
    .innerJoin("feeds as f", "f.name", "r.feed")
    .select(["f.format", "f.products", "r.body"])
    .where("r.feed", "=", feed)
    .where("r.id", "=", id)
    .where("r.removed", "=", 0)
    .where("f.products", "<>", "[]")
    .where(({ fn }) => fn<number>("length", ["r.body"]), "<=", MAX_DOCUMENT_CHARS)
    .executeTakeFirst();
  return row === undefined ? [] : trustedIn(row.format, row.body, JSON.parse(row.products) as string[]);
}

async function nextNumber(tx: Database, feed: string, id: string): Promise<number> {
  const row = await tx
    .selectFrom("feed_statements")
    .select("n")
    .where("feed", "=", feed)
    .where("record", "=", id)
    .orderBy("n", "desc")
    .limit(1)
    .executeTakeFirst();
  return (row?.n ?? -1) + 1;
}

type Meaning = Pick<StatementRow, "ids" | "status" | "justification" | "product" | "component">;

/** Equal for statements that close or leave open the same, whatever their words and times. */
function meaningOf({ ids, status, justification, product, component }: Meaning): string {
  return JSON.stringify([ids, status, justification, product, component]);
}
