import { dirname } from "node:path";

// SQLITE_CORRUPT and SQLITE_NOTADB. Source: https://www.sqlite.org/rescode.html
const DAMAGES: ReadonlySet<number> = new Set([11, 26]);

/** Whether SQLite found its file damaged: a page that is none, or a file that is no database. */
export function isDamage(error: unknown): error is Error {
  return (
    error instanceof Error &&
    "errcode" in error &&
    typeof error.errcode === "number" &&
    DAMAGES.has(error.errcode & 0xff)
  );
}

/** What to do about a damaged database, in one line that names its file. */
export function describeDamage(path: string): string {
  const folder = /^[\w@%+=:,./-]+$/.test(dirname(path)) ? dirname(path) : `'${dirname(path).replaceAll("'", `'\\''`)}'`;
  return (
    `the database ${path} is damaged: moorage fsck --data-dir ${folder} says where; to go back to a backup, ` +
    `stop the server, move ${folder} away, and run moorage restore BACKUP --data-dir ${folder}`
  );
}
