// The throughput of the database engine alone, in its own process. Reads an Alone as JSON from standard input and
// prints operations a second.
import { rmSync } from "node:fs";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { answer } from "./processes.ts";

export type Alone =
  /** A page of 50 repos below the group and the total: the first page, or the first `pages` pages in turn. */
  | { work: "list"; database: string; ancestor: string; pages: number; durationMs: number }
  /** A statement of at least one row with each of the lists of parameters in turn. */
  | { work: "rows"; database: string; text: string; keys: string[][]; durationMs: number }
  /** One row for each commit, each synced to the disk, one caller. */
  | { work: "commit"; database: string; durationMs: number };

/** `cpuUs`: processor time of the process for one operation. */
export interface AloneResult {
  perSecond: number;
  cpuUs?: number;
}

const PAGE = 50;
// The clock is read only once in so many operations.
const STRIDE = 64;

function rate(durationMs: number, work: () => void, stride = STRIDE): AloneResult {
  const began = performance.now();
  const used = process.cpuUsage();
  let count = 0;
  while (performance.now() - began < durationMs) {
    for (let index = 0; index < stride; index += 1) work();
    count += stride;
  }
  const { user, system } = process.cpuUsage(used);
  return { perSecond: (count * 1000) / (performance.now() - began), cpuUs: (user + system) / count };
}

function openToRead(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  database.exec("pragma cache_size = -65536; pragma mmap_size = 268435456; pragma temp_store = memory");
  return database;
}

function rows({ database: path, text, keys, durationMs }: Alone & { work: "rows" }): AloneResult {
  const database = openToRead(path);
  const statement = database.prepare(text);
  statement.setReturnArrays(true);
  let at = 0;
  const result = rate(
    durationMs,
    () => {
      if (statement.all(...(keys[at++ % keys.length] ?? [])).length === 0) throw new Error("there is no such row");
    },
    1,
  );
  database.close();
  return result;
}

function list(input: Alone & { work: "list" }): AloneResult {
  const database = openToRead(input.database);
  const page = database.prepare(`
    select r.uid, r.name, r.description, r.catalog_tier, r.bundles, r.aliases, r.active_tags, r.sync_config, r.create_time, r.update_time
    from ancestry a join repos r on r.uid = a.uid
    where a.kind = 'repos' and a.ancestor = ? and (a.name, a.uid) > (?, ?) order by a.name, a.uid limit ${PAGE + 1}`);
  page.setReturnArrays(true);
  const total = database.prepare("select n from counters where kind = 'repos' and ancestor = ?");
  let at = 0;
  let after: SQLOutputValue[] = [];
  const result = rate(input.durationMs, () => {
    if (at === 0) after = ["", ""];
    const rows = page.all(input.ancestor, after[1] ?? "", after[0] ?? "") as unknown as SQLOutputValue[][];
    if (rows.length <= PAGE) throw new Error("the page is short");
    total.get(input.ancestor);
    after = rows[PAGE - 1] ?? [];
    at = (at + 1) % input.pages;
  });
  database.close();
  return result;
}

function commit(input: Alone & { work: "commit" }): AloneResult {
  const database = new DatabaseSync(input.database);
  database.exec(
    "pragma journal_mode = wal; pragma synchronous = full; create table if not exists moves (n integer primary key, tag text, digest text)",
  );
  const insert = database.prepare("insert into moves (tag, digest) values (?, ?)");
  const result = rate(input.durationMs, () => {
    database.exec("begin immediate");
    insert.run("latest", "sha256:0000000000000000000000000000000000000000000000000000000000000000");
    database.exec("commit");
  });
  database.close();
  for (const end of ["", "-wal", "-shm"]) rmSync(input.database + end, { force: true });
  return result;
}

if (import.meta.main)
  await answer<Alone>((input) =>
    input.work === "list" ? list(input) : input.work === "rows" ? rows(input) : commit(input),
  );
