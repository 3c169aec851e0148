// The statements that an import of changed records and its comparison with packages come to, by the database engine
// alone, in its own process: the same rows once more, of a feed of their own, which goes again afterwards. Reads a
// DeltaAlone as JSON from standard input, and prints a DeltaAloneResult.
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import pg from "pg";
import { answer } from "./processes.ts";

export interface DeltaAlone {
  /** The file of SQLite, or the URL of PostgreSQL. */
  database: string;
  engine: "SQLite" | "PostgreSQL";
  feed: string;
  /** What the delta wrote: see DeltaResult. */
  change: number;
  startedMs: number;
}

export interface DeltaAloneResult {
  ms: number;
  rows: number;
}

const ALONE = "alone";
// As many records and findings as Moorage writes in one transaction.
const [RECORDS, FINDINGS] = [200, 300];
const TIMEOUT_MS = 120_000;

type Value = string | number | null;
type Line = Value[];

/** One statement for many rows, each the values of the question marks. */
interface Engine {
  read(sql: string): Promise<Line[]>;
  run(sql: string, rows: Line[]): Promise<void>;
  close(): Promise<void>;
}

function sqlite(path: string): Engine {
  const database = new DatabaseSync(path, { timeout: TIMEOUT_MS });
  database.exec("pragma synchronous = full; pragma wal_autocheckpoint = 8000");
  const prepared = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  return {
    async read(sql) {
      const all = database.prepare(sql);
      all.setReturnArrays(true);
      return all.all() as unknown as Line[];
    },
    async run(sql, rows) {
      const known = prepared.get(sql) ?? database.prepare(sql);
      prepared.set(sql, known);
      for (const row of rows) known.run(...(row as SQLInputValue[]));
    },
    async close() {
      database.close();
    },
  };
}

async function postgres(url: string): Promise<Engine> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    query_timeout: TIMEOUT_MS,
    types: { getTypeParser: (oid) => (oid === 20 ? Number : (text: string) => text) },
  });
  client.on("error", () => {});
  await client.connect();
  return {
    async read(sql) {
      return (await client.query<Line>({ text: sql, rowMode: "array" })).rows;
    },
    async run(sql, rows) {
      let n = 0;
      const text = sql.replaceAll("?", () => `$${(n += 1)}`);
      for (const values of rows) await client.query({ name: text.slice(0, 60), text, values });
    },
    close: () => client.end(),
  };
}

const marks = (count: number): string => Array.from({ length: count }, () => "?").join(", ");
const part = <T>(rows: T[], at: number, size: number): T[] => rows.slice(at, at + size);

async function alone(engine: Engine, { feed, change, startedMs }: Omit<DeltaAlone, "database" | "engine">) {
  const read = (sql: string): Promise<Line[]> => engine.read(sql);
  const records = await read(
    `select '${ALONE}', id, modified, withdrawn, removed, hash, severity, score_tenths, body, -change from feed_records where feed = '${feed}' and change > ${change}`,
  );
  const keys = Map.groupBy(
    await read(
      `select k.kind, k.key, '${ALONE}', k.record from feed_keys as k join feed_records as r on r.feed = k.feed and r.id = k.record where r.feed = '${feed}' and r.change > ${change}`,
    ),
    ([, , , record]) => record,
  );
  const columns = `package, '${ALONE}', record, change, modified, opened, since, closed, reason_opened, reason_closed, state, fixed, last_affected`;
  const opened = await read(
    `select ${columns} from package_findings where feed = '${feed}' and change > ${change} and closed is null`,
  );
  const closed = await read(
    `select ${columns} from package_findings where feed = '${feed}' and closed >= ${startedMs}`,
  );

  const put = `insert into feed_records values (${marks(10)}) on conflict (feed, id) do update set modified = excluded.modified, withdrawn = excluded.withdrawn,
    removed = excluded.removed, hash = excluded.hash, severity = excluded.severity, score_tenths = excluded.score_tenths, body = excluded.body, change = excluded.change`;
  const removeKeys = "delete from feed_keys where feed = ? and record = ?";
  const putKey = `insert into feed_keys values (${marks(4)})`;
  const open = `insert into package_findings values (${marks(13)})`;
  const close =
    "update package_findings set closed = ?, reason_closed = ? where package = ? and feed = ? and record = ? and closed is null";
  const together = async (work: () => Promise<void>): Promise<void> => {
    await engine.run("begin", [[]]);
    await work();
    await engine.run("commit", [[]]);
  };
  const remove = (): Promise<void> =>
    together(async () => {
      for (const table of ["feed_records", "feed_keys", "package_findings"])
        await engine.run(`delete from ${table} where feed = ?`, [[ALONE]]);
    });

  await remove();
  // As it was before: the records, and the findings that are closed.
  await together(async () => {
    await engine.run(
      put,
      records.map((row) => [...row.slice(0, 8), "{}", Number(row[9]) - 1e9]),
    );
    await engine.run(putKey, [...keys.values()].flat());
    await engine.run(
      open,
      closed.map((row) => [...row.slice(0, 7), null, row[8] ?? "", "", ...row.slice(10)]),
    );
  });
  const began = performance.now();
  for (let at = 0; at < records.length; at += RECORDS)
    await together(async () => {
      const some = part(records, at, RECORDS);
      await engine.run(put, some);
      await engine.run(
        removeKeys,
        some.map(([, id]) => [ALONE, id ?? ""]),
      );
      await engine.run(
        putKey,
        some.flatMap(([, id]) => keys.get(id ?? "") ?? []),
      );
    });
  for (let at = 0; at < Math.max(opened.length, closed.length); at += FINDINGS)
    await together(async () => {
      await engine.run(
        close,
        part(closed, at, FINDINGS).map((row) => [row[7] ?? null, row[9] ?? "", row[0] ?? "", ALONE, row[2] ?? ""]),
      );
      await engine.run(open, part(opened, at, FINDINGS));
    });
  const ms = performance.now() - began;
  await remove();
  return { ms, rows: records.length + opened.length + closed.length };
}

await answer<DeltaAlone>(async ({ database, engine: name, ...input }): Promise<DeltaAloneResult> => {
  const engine = name === "SQLite" ? sqlite(database) : await postgres(database);
  try {
    return await alone(engine, input);
  } finally {
    await engine.close();
  }
});
