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
