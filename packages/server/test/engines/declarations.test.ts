import "../support/declarations/watch.ts";
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { CallData } from "../../../kernel/src/core/call.ts";
import type { Command, Sharing } from "../../../kernel/src/core/command.ts";
import { commitBlob } from "../../../registry/src/oci/blobs/commands.ts";
import { parseManifest } from "../../../registry/src/oci/formats/manifest.ts";
import { putManifest, type PutManifestInput } from "../../../registry/src/oci/manifests/commands.ts";
import { loadConfig, signToken } from "../../src/index.ts";
import { digestOf, pushLayers } from "../support/catalog/push.ts";
import { databaseEnv, dropDatabase, ENGINE } from "../support/database.ts";
import { undeclaredIn } from "../support/declarations/log-lines.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/installation.ts";
import { startProcess } from "../support/processes.ts";
import { endpoint, ownerIdentity, REPO } from "../support/registry-endpoint-client.ts";

// What commands declare is compared with the rows that they touch, and one that is wrong fails. The suites of random
// writes run so in npm run test:nightly; here declarations are broken on purpose.

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const SHARES = { skip: ENGINE === "sqlite" && "on SQLite one command follows the other" };

const { transactor } = endpoint.deps;
const data = (): CallData => ({
  caller: { identity: ownerIdentity },
  requestId: "test",
  nowMs: Date.now(),
  remoteAddress: "",
  userAgent: "",
});
const linked = (content: Buffer): Promise<unknown> =>
  transactor.write(commitBlob, data(), {
    name: REPO,
    ending: undefined,
    digest: digestOf(content),
    size: content.length,
    generation: randomBytes(8).toString("hex"),
  });

type Sharer<I> = Pick<Command<I, unknown>, "sharingOf">;

/** Has the command declare something else until the end of the test. */
function declaring<I>(t: TestContext, command: Sharer<I>, sharingOf: (input: I) => Sharing): void {
  const before = command.sharingOf;
  Object.assign(command, { sharingOf });
  t.after(() => Object.assign(command, { sharingOf: before }));
}

function manifestOf(layer: Buffer): PutManifestInput {
  const config = { mediaType: "application/vnd.oci.image.config.v1+json", digest: digestOf(layer), size: layer.length };
  const content = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, config, layers: [] }));
  const manifest = parseManifest(content, MANIFEST);
  assert.ok("references" in manifest);
  return { name: REPO, digest: digestOf(content), content, manifest, tags: [] };
}

/** What the commands came to that arrived together, so that they share a transaction. */
async function together(...commands: Promise<unknown>[]): Promise<string[]> {
  const results = await Promise.allSettled(commands);
  return results.map((result) => (result.status === "rejected" ? String(result.reason) : "done"));
}

test("commands that share a transaction and keep apart are committed", SHARES, async () => {
  // The repo is there from now on.
  await linked(randomBytes(8));
  const [layer, other] = [randomBytes(8), randomBytes(8)];
  assert.deepEqual(await together(linked(layer), linked(other), linked(layer)), ["done", "done", "done"]);
});

test("two that write the same row and do not say so fail", SHARES, async (t) => {
  declaring(t, commitBlob, () => ({ kind: "pushes", writes: [randomBytes(8).toString("hex")] }));
  const layer = randomBytes(8);
  for (const said of await together(linked(layer), linked(layer)))
    assert.match(said, /share a transaction meet: both \w+ and \w+ write blobs \["sha256:/);
});

test("one that does not say that it reads what the other one writes fails with it", SHARES, async (t) => {
  const layer = randomBytes(8);
  await linked(layer);
  const put = (): Promise<unknown> => transactor.write(putManifest, data(), manifestOf(layer));
  assert.deepEqual(await together(put(), linked(layer)), ["done", "done"]);
  declaring(t, putManifest, ({ digest }) => ({ kind: "pushes", writes: [`manifest ${digest}`] }));
  for (const said of await together(put(), linked(layer)))
    assert.match(
      said,
      /share a transaction meet: manifest sha256:\w+ reads what blob sha256:\w+ writes, repo_blobs \[/,
    );
});

// Has pushes of manifests declare that they change no cached answer.
const FORGETS = new URL("../support/fresh/forget-keys.ts", import.meta.url);
const PROGRAM = fileURLToPath(new URL("../support/fresh/forgetful-process.ts", import.meta.url));

test("a command that moves a tag and does not declare its key fails", async (t) => {
  const folder = temporaryFolder(t);
  const env = { MOORAGE_DATA_DIR: folder, ...(await databaseEnv(folder)) };
  t.after(() => dropDatabase(folder));
  const push = async (options: object, program?: string): Promise<{ pushed: Promise<string>; lines: object[] }> => {
    const server = await startProcess(t, { ...env, ...options }, undefined, program);
    const config = loadConfig({ ...env, MOORAGE_BASE_URL: server.url });
    const { token } = await signToken({ config, audience: "registry", ttlMs: 600_000 });
    const pushed = pushLayers({ url: server.url, token, name: "acme/app" }, "latest", [randomBytes(8)]);
    await pushed.catch(() => {});
    if (program === undefined) await server.stop();
    return { pushed, lines: server.lines };
  };
  const right = await push({});
  await right.pushed;
  assert.deepEqual(undeclaredIn(right.lines), []);
  const forgetful = await push({ NODE_OPTIONS: `--import=${FORGETS.href}` }, PROGRAM);
  await assert.rejects(forgetful.pushed, /500/);
  await eventually(() => undeclaredIn(forgetful.lines).length > 0);
  assert.match(
    undeclaredIn(forgetful.lines)[0] ?? "",
    /oci\.putManifest does not declare what it changes: .*tags ends tag .*\/latest/,
  );
});
