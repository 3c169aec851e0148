// The matrix of cosign-live.test.ts without cosign: what it had pushed then is pushed again, and the registry answers
// as it did beside cosign. Recorded by .ci/cosign.sh with UPDATE_COSIGN=1, by the versions that the file names.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openRow, registryAnswers, ROWS } from "../../../server/test/support/cosign/matrix.ts";
import type { Row } from "../../../server/test/support/cosign/rows.ts";
import { pushRecorded } from "../../../server/test/support/cosign/repo-content.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import recorded from "./cosign-replay.json" with { type: "json" };

interface Recorded {
  digest: string;
  index: string;
  children: string[];
  cosign: boolean;
  repo: { manifests: { digest: string; mediaType: string; content: string }[]; tags: Record<string, string> };
}
const contents: Readonly<Record<string, string>> = recorded.contents;
const rows: Readonly<Record<string, Recorded | undefined>> = recorded.rows as unknown as Record<string, Recorded>;
/** So many rows are asked about concurrently: each waits until its signatures are verified. */
const CONCURRENT = 8;

let platform: Platform;
const folder = mkdtempSync(join(tmpdir(), "moorage-root-"));
const answers = new Map<string, boolean | Error>();

before(async () => {
  const file = join(folder, "root.json");
  writeFileSync(file, recorded.root);
  platform = await startPlatform({ MOORAGE_SIGSTORE_ROOT: file });
  const left = [...ROWS];
  const work = async (): Promise<void> => {
    for (let row = left.shift(); row !== undefined; row = left.shift()) {
      const { id } = row;
      answers.set(id, await answerTo(row).catch((error: unknown) => error as Error));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
});
after(async () => {
  await platform.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

async function answerTo(row: Row): Promise<boolean> {
  const found = rows[row.id];
  assert.ok(found, "it is not recorded: run UPDATE_COSIGN=1 .ci/cosign.sh");
  const repo = await openRow(platform, row, recorded.keys);
  await pushRecorded(repo, found.repo, contents);
  return await registryAnswers(platform, repo, found);
}

for (const { id, what, cosign, registry, why } of ROWS)
  test(`${id}: ${what}`, () => {
    const answer = answers.get(id);
    if (answer instanceof Error) throw answer;
    assert.equal(answer, registry);
    assert.equal(rows[id]?.cosign, cosign);
    assert.equal(why === undefined, cosign === registry, "what differs has a reason, and nothing else has");
  });
