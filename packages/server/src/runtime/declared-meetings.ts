import {
  type Database,
  DeclarationError,
  select,
  type Touched,
  type WatchedRead,
  type WatchedRow,
} from "@moorage/kernel/store";

// Whether commands that share a transaction keep apart (ADR 14): looked at in tests that watch rows. They are run as if
// in any order, so neither may read or write what the other one writes. Not seen is what a statement that writes reads
// of other tables.

/** One of those that share the transaction. `name`: what it declares. */
interface Member extends Touched {
  name: string;
}

/** Tables whose rows members may both touch, and why that is right. */
const MEET: ReadonlyMap<string, string> = new Map([
  ["counters", "added to, in any order"],
  ["quotas", "added to; whoever does not fit has written, and is run again by itself"],
  ["quota_refs", "added to, like quotas"],
]);

/** Tables of which members may see new rows: whoever misses one makes it as well, and both fail at the unique index. */
const MADE: ReadonlySet<string> = new Set(["groups", "repos"]);

/** Throws a DeclarationError when two of them meet. `db`: the same transaction. */
export async function requireApart(members: readonly Member[], db: Database): Promise<void> {
  const written = members.map(({ rows }) => rows.filter(({ table }) => !MEET.has(table)));
  const found = [...meetingWrites(members, written), ...(await meetingReads(members, written, db))];
  if (found.length > 0) throw new DeclarationError(`commands that share a transaction meet: ${found.join("; ")}`);
}

function meetingWrites(members: readonly Member[], written: readonly (readonly WatchedRow[])[]): string[] {
  const owners = new Map<string, number>();
  const found = new Set<string>();
  for (const [at, rows] of written.entries())
    for (const row of rows) {
      const name = nameOf(row);
      const owner = owners.get(name) ?? at;
      owners.set(name, owner);
      if (owner !== at) found.add(`both ${members[owner]?.name} and ${members[at]?.name} write ${name}`);
    }
  return [...found];
}

function nameOf({ table, key, before, after }: WatchedRow): string {
  const columns = after ?? before ?? {};
  return `${table} ${JSON.stringify(key.map((column) => columns[column]))}`;
}

async function meetingReads(
  members: readonly Member[],
  written: readonly (readonly WatchedRow[])[],
  db: Database,
): Promise<string[]> {
  const found = new Set<string>();
  for (const [reader, { name, reads }] of members.entries())
    for (const read of reads)
      for (const [writer, rows] of written.entries())
        for (const table of writer === reader ? [] : tablesIn(read.text, rows)) {
          const those = rows.filter((row) => row.table === table);
          if (await sees(db, read, table, those))
            found.add(
              `${name} reads what ${members[writer]?.name} writes, ${those.map(nameOf).join(", ")}: ${read.text}`,
            );
        }
  return [...found];
}

/** The tables of these rows that the text names. */
function tablesIn(text: string, rows: readonly WatchedRow[]): Set<string> {
  const words = new Set(text.match(/\w+/g));
  const seen = rows.filter(({ table, change }) => change !== "proposed" && !(change === "insert" && MADE.has(table)));
  return new Set(seen.map(({ table }) => table).filter((table) => words.has(table)));
}

/** Whether a statement reads any of these rows of the table: whether it answers something else without them. */
async function sees(db: Database, read: WatchedRead, table: string, rows: readonly WatchedRow[]): Promise<boolean> {
  const images = rows.flatMap(({ before, after }) => [before, after]).filter((columns) => columns !== null);
  const [among, without] = [await answerWith(db, read, table, images), await answerWith(db, read, table, [])];
  return among !== without;
}

/** What the statement answers if these were all rows of the table. */
async function answerWith(
  db: Database,
  { text, parameters }: WatchedRead,
  table: string,
  rows: readonly object[],
): Promise<string> {
  let count = 0;
  const numbered = text.replaceAll("?", () => `$${(count += 1)}`);
  const standIn = `${table} as (select * from jsonb_populate_recordset(null::${table}, $${parameters.length + 1}::jsonb))`;
  const [, words = "", rest = numbered] = /^\s*with\b(\s+recursive\b)?([\s\S]*)$/i.exec(numbered) ?? [];
  const asked = /^\s*with\b/i.test(numbered) ? `with${words} ${standIn},${rest}` : `with ${standIn} ${numbered}`;
  return JSON.stringify(await select(db, asked, [...(parameters as string[]), JSON.stringify(rows)]));
}
