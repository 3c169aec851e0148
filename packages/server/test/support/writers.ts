import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { commitTogether, type Work } from "../../../kernel/src/store/group-commit.ts";
import { databasePath } from "../../../kernel/src/lib/database-path.ts";
import { migrate, openReader, openWriter } from "../../../kernel/src/store/open.ts";

/** An empty SQLite database of the test's own, with two connections that write and one that reads. */
export function openWriters(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "moorage-writers-"));
  const path = databasePath(folder);
  migrate(path);
  const [writer, other, reader] = [openWriter(path), openWriter(path), openReader(path)];
  t.after(async () => {
    await reader.destroy();
    for (const { db } of [writer, other]) await db.destroy();
    rmSync(folder, { recursive: true, maxRetries: 10 });
  });
  /** Commits the works together, dry runs among them. Returns what each was settled with, an error by its message. */
  const commit = async (
    works: (Work["run"] | { isDryRun: true; run: Work["run"] })[],
    { db, raw } = writer,
  ): Promise<unknown[]> => {
    const settled: unknown[] = works.map(() => "never settled");
    await commitTogether(
      db,
      raw,
      works.map((work, at) => ({
        ...(typeof work === "function" ? { run: work } : work),
        settle(result) {
          settled[at] = "value" in result ? result.value : (result.error as Error).message;
        },
      })),
    );
    return settled;
  };
  return { path, writer, other, reader, commit };
}
