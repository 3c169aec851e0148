import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import type { FeedFormat } from "../../../security/src/security/records/formats.ts";
import { readFeed } from "../../../security/src/security/feeds/read.ts";
import type { FeedProblem, FeedRecord } from "../../../security/src/security/records/record.ts";

/** Writes a file into a folder that is removed after the test; returns its path. */
export function fileOf(t: TestContext, name: string, content: string | Uint8Array): string {
  const folder = mkdtempSync(path.join(tmpdir(), "moorage-feed-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

/** All that a reader yields of a source. */
export async function allOf(
  format: FeedFormat,
  source: string,
  limits?: Parameters<typeof readFeed>[2],
): Promise<{ records: FeedRecord[]; problems: FeedProblem[] }> {
  const records: FeedRecord[] = [];
  const problems: FeedProblem[] = [];
  for await (const { record, problem } of readFeed(format, source, limits))
    if (record) records.push(record);
    else problems.push(problem);
  return { records, problems };
}

/** An OSV record as its file has it. */
export const osv = (id: string, more: object = {}): string =>
  JSON.stringify({ id, modified: "2026-01-02T03:04:05Z", ...more });

/**
 * The path of a file of the real data that stands beside the checkout. Skips the test with one line where it is not.
 */
export function realData(t: TestContext, name: string): string | undefined {
  const file = path.resolve(import.meta.dirname, "../../../../../shared/data", name);
  if (existsSync(file)) return file;
  t.skip(`put ${name} into ../shared/data beside the checkout to run this`);
  return undefined;
}
