import type { HeldFile } from "../held-file.ts";
import { openSqliteFile, type SqliteObject } from "./sqlite-file.ts";

/** More tables and indexes than rpm has tags for. */
const MAX_OBJECTS = 200;
const MAX_SQL = 1_024;

/** The tables and indexes that rpm creates, without quotes and needless blanks. Source: rpm, lib/backend/sqlite.cc. */
const PACKAGES = /^create table packages\(hnum integer primary key(?: autoincrement| not null),blob blob not null\)$/;
const SEQUENCE = "create table sqlite_sequence(name,seq)";
const TAG_TABLE = /^create table \w+$/;
const TAG_COLUMNS = ["key text not null", "key blob not null"].map(
  (key) => `(${key},hnum integer not null,idx integer not null,foreign key(hnum)references packages(hnum))`,
);
const INDEX = /^create index \w+ on \w+$/;
const INDEX_COLUMNS = ["(key asc)", "(hnum asc)"];

/**
 * The headers of packages in rpmdb.sqlite. The file is somebody else's, so it is read without SQLite, and only when it
 * holds nothing but what rpm creates: no view, no trigger, no virtual table, no generated column. Throws otherwise.
 */
export function* sqliteHeaders(file: HeldFile, maxHeaderBytes: number): Generator<Buffer> {
  const database = openSqliteFile(file);
  let packages: SqliteObject | undefined;
  let count = 0;
  for (const each of database.objects()) {
    count += 1;
    if (count > MAX_OBJECTS) throw new Error(`it has more than ${MAX_OBJECTS} tables and indexes`);
    if (each.name === "Packages" && each.type !== "table") throw new Error("it has no table of packages");
    const sql = each.sql.length > MAX_SQL ? "" : plain(each.sql);
    if (each.type === "table" && each.name === "Packages" && packages === undefined && PACKAGES.test(sql))
      packages = each;
    else if (each.name === "Packages" || !isOfTag(sql))
      throw new Error(`${each.type} ${each.name} is not as rpm creates it`.slice(0, 100));
  }
  if (packages === undefined) throw new Error("it has no table of packages");
  yield* database.secondColumn(packages.rootPage, maxHeaderBytes);
}

/** Whether it is the table or an index that rpm makes for a tag, or SQLite's own for numbers. */
function isOfTag(sql: string): boolean {
  const columns = sql.indexOf("(");
  const [head, rest] = [sql.slice(0, columns), sql.slice(columns)];
  return (
    sql === SEQUENCE ||
    (TAG_TABLE.test(head) && TAG_COLUMNS.includes(rest)) ||
    (INDEX.test(head) && INDEX_COLUMNS.includes(rest))
  );
}

function plain(sql: string): string {
  return sql
    .replaceAll(/["'`[\]]/g, "")
    .split(/\s/)
    .filter((word) => word !== "")
    .join(" ")
    .replaceAll(/ ?([(),]) ?/g, "$1")
    .toLowerCase();
}
