// cosign and the registry are asked about the same signatures, most of which cosign has made: they agree, or the row
// says why not. Each image is pushed below an enforcing policy, blocked, signed, and asked about.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { newKeys, pemsOf } from "../../../server/test/support/cosign/keys.ts";
import { openRow, type Pushed, pushImage, registryAnswers, ROWS } from "../../../server/test/support/cosign/matrix.ts";
import { type Cosign, importKey, openCosign, PROGRAMS } from "../../../server/test/support/cosign/program.ts";
import { type Contents, type RecordedRepo, recordRepo } from "../../../server/test/support/cosign/repo-content.ts";
import { openSigstore, type Sigstore } from "../../../server/test/support/keyless-signing.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

/** Set, it writes what cosign has pushed and answered to the file that the test without cosign reads. */
const RECORD = process.env["UPDATE_COSIGN"] === "1";
const FILE = new URL("./cosign-replay.json", import.meta.url);
const missing = PROGRAMS.cosign === "" || PROGRAMS.cosign2 === "";

let platform: Platform;
let cosign: Cosign;
let sigstore: Sigstore;
let stranger: Sigstore;
let folder = "";
let keys: ReturnType<typeof newKeys>;
const contents: Contents = {};
/** By the rows' ids. */
const rows: Record<string, Pushed & { cosign: boolean; repo: RecordedRepo }> = {};

before(async () => {
  if (missing) return;
  keys = newKeys();
  folder = mkdtempSync(join(tmpdir(), "moorage-root-"));
  sigstore = await openSigstore();
  stranger = await openSigstore();
  writeFileSync(join(folder, "root.json"), sigstore.root);
  platform = await startPlatform({ MOORAGE_SIGSTORE_ROOT: join(folder, "root.json") });
  cosign = await openCosign(platform, await platform.identity(platform.organization, "registry.push"));
  for (const [name, key] of Object.entries(keys)) await importKey(cosign, name, key);
  cosign.file("sigstore.json", sigstore.root);
  await cosign.do("cosign", "signing-config", "create", "--out", "signing.json");
  await cosign.do("cosign", "trusted-root", "create", "--out", "root.json");
});
after(async () => {
  if (missing) return;
  if (RECORD && ROWS.every(({ id }) => id in rows)) {
    const madeBy = [await cosign.do("cosign", "version", "--json"), await cosign.do("cosign2", "version", "--json")];
    const versions = madeBy.map((text) => /"gitVersion": "([^"]*)"/.exec(text)?.[1]);
    writeFileSync(FILE, JSON.stringify({ versions, keys: pemsOf(keys), root: sigstore.root, contents, rows }));
  }
  await platform.close();
  cosign.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

if (missing) test("cosign 2 and 3 beside the registry", { skip: "run .ci/cosign.sh, which builds both" });
else
  for (const row of ROWS)
    test(`${row.id}: ${row.what}`, async () => {
      const repo = await openRow(platform, row, pemsOf(keys));
      const pushed = await pushImage(repo, row);
      const at = (digest: string): string => `${new URL(platform.url).host}/${repo.name}@${digest}`;
      assert.equal((await repo.pull(pushed.digest)).status, 403);
      await row.attach({ platform, repo, ...pushed, keys, sigstore, stranger, cosign, at });
      const { ok, text } = await cosign.run(row.program ?? "cosign", [...row.ask, at(pushed.digest)]);
      const answers = { cosign: ok, registry: await registryAnswers(platform, repo, pushed) };
      assert.deepEqual(answers, { cosign: row.cosign, registry: row.registry }, text);
      if (RECORD) rows[row.id] = { ...pushed, cosign: ok, repo: await recordRepo(platform, repo, contents) };
    });
