import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Config } from "../../../kernel/src/config/index.ts";
import { cleanUploads } from "../../../registry/src/oci/blobs/stale-uploads.ts";
import { dropDatabase, ENGINE } from "../support/database.ts";
import { foundBy } from "../support/fsck.ts";
import { temporaryFolder } from "../support/installation.ts";
import type { Step } from "../support/push-steps-child.ts";
import { ask, begin, bytes, endpoint, folder, rejection, sha } from "../support/registry-endpoint-client.ts";
import { openEndpoint } from "../support/registry-endpoint.ts";

// A push that is cut off at each of its steps: afterwards what was acknowledged is served whole, and what is missing is
// refused, so that the client sends it again.
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

/** Starts a registry of the folder in a process of its own, which ends at the step. */
async function startChild(t: TestContext, dataDir: string, step: Step): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../support/push-steps-child.ts"), dataDir, step], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { child, url: line.toString().trim() };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

interface Image {
  repo: string;
  config: Buffer<ArrayBuffer>;
  layer: Buffer<ArrayBuffer>;
  manifest: Buffer<ArrayBuffer>;
}

/** An image whose layer comes in several chunks. */
function newImage(repo: string): Image {
  const config = Buffer.from(JSON.stringify({ architecture: "amd64", os: "linux", repo }));
  const layer = randomBytes(1_000_000);
  const described = (mediaType: string, content: Buffer): object => ({
    mediaType,
    digest: sha(content),
    size: content.length,
  });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: described("application/vnd.oci.image.config.v1+json", config),
      layers: [described("application/vnd.oci.image.layer.v1.tar", layer)],
    }),
  );
  return { repo, config, layer, manifest };
}

interface Asking {
  url: string;
  as?: string;
}

const putManifest = ({ repo, manifest }: Image, asking: Asking): Promise<Response> =>
  ask("PUT", `/v2/${repo}/manifests/latest`, { ...asking, body: manifest, headers: { "content-type": MANIFEST } });

/** `whole`: all of the blob, where only its end is sent. */
const putBlob = (upload: string, body: Buffer<ArrayBuffer>, asking: Asking, whole = body): Promise<Response> =>
  ask("PUT", `${upload}?digest=${sha(whole)}`, { ...asking, body });

async function checkServed({ repo, config, layer, manifest }: Image, asking: Asking): Promise<void> {
  for (const [kind, reference, content] of [
    ["blobs", sha(config), config],
    ["blobs", sha(layer), layer],
    ["manifests", "latest", manifest],
  ] as const) {
    const found = await ask("GET", `/v2/${repo}/${kind}/${reference}`, asking);
    assert.equal(found.status, 200, `${repo}: ${kind}`);
    assert.ok((await bytes(found)).equals(content), `${repo}: ${kind}`);
  }
}

type Cut = Exclude<Step, "nothing">;

/**
 * How the layer comes. `isThere`: whether the repo has it after the step; `goesOn`: whether the same upload can be
 * continued otherwise.
 */
const STEPS: Record<Cut, { in: "chunks" | "whole"; isThere?: boolean; goesOn?: boolean }> = {
  repo: { in: "whole" },
  "upload file": { in: "chunks", goesOn: true },
  "upload row": { in: "chunks", goesOn: true },
  "half of a chunk": { in: "chunks", goesOn: true },
  chunk: { in: "chunks", goesOn: true },
  "moved upload": { in: "chunks" },
  "finished upload": { in: "chunks" },
  "record of an upload": { in: "chunks", isThere: true },
  "half of the content": { in: "whole", goesOn: true },
  "written content": { in: "whole", goesOn: true },
  "synced content": { in: "whole", goesOn: true },
  content: { in: "whole", goesOn: true },
  record: { in: "whole", isThere: true },
  manifest: { in: "whole", isThere: true },
};
/** What of these leaves content at its place that nothing records. */
const LEFT = ["moved upload", "finished upload", "half of the content", "written content", "synced content", "content"];
const CONCURRENT = 3;

/** Continues the upload from where it is, as clients do. */
async function goOn(step: Cut, upload: string, { layer }: Image): Promise<void> {
  const progress = await ask("GET", upload);
  assert.equal(progress.status, 204, step);
  const [, last = ""] = /^0-(\d+)$/.exec(progress.headers.get("range") ?? "") ?? [];
  const count = last === "0" ? 0 : Number(last) + 1;
  if (STEPS[step].in === "whole") assert.equal(count, 0, step);
  else if (count < layer.length) {
    const headers = { "content-range": `${count}-${layer.length - 1}` };
    assert.equal((await ask("PATCH", upload, { body: layer.subarray(count), headers })).status, 202, step);
  }
  const rest = STEPS[step].in === "whole" ? layer : Buffer.alloc(0);
  assert.equal((await putBlob(upload, rest, endpoint, layer)).status, 201, `${step}: the same upload goes on`);
}

/** Pushes until the server ends at the step, then goes on at the one that still runs. */
async function cutOff(t: TestContext, step: Cut): Promise<void> {
  const image = newImage(`acme/${step.replaceAll(" ", "-")}`);
  const { child, url } = await startChild(t, folder, step);
  const upload = step === "repo" ? "" : await begin({ url }, image.repo);
  const { in: way, isThere = false, goesOn = false } = STEPS[step];
  // Its configuration is there before.
  const config = await ask("POST", `/v2/${image.repo}/blobs/uploads/?digest=${sha(image.config)}`, {
    body: image.config,
  });
  assert.equal(config.status, 201);
  const cut = async (): Promise<void> => {
    if (step === "repo") await begin({ url }, `${image.repo}-of-upload`);
    if (way === "chunks") await ask("PATCH", upload, { url, body: image.layer });
    await putBlob(upload, way === "chunks" ? Buffer.alloc(0) : image.layer, { url }, image.layer);
    await putManifest(image, { url });
  };
  await assert.rejects(cut(), TypeError, "the connection ended");
  await ended(child);
  assert.equal(child.signalCode, "SIGKILL", step);

  const path = `/v2/${image.repo}/blobs/${sha(image.layer)}`;
  assert.equal((await ask("HEAD", path)).status, isThere ? 200 : 404, step);
  if (isThere) {
    await rejection(await putBlob(upload, image.layer, endpoint), 404, "BLOB_UPLOAD_UNKNOWN");
  } else {
    await rejection(await putManifest(image, endpoint), 400, "MANIFEST_BLOB_UNKNOWN");
    if (goesOn) await goOn(step, upload, image);
    else {
      if (step !== "repo") await rejection(await putBlob(upload, image.layer, endpoint), 404, "BLOB_UPLOAD_UNKNOWN");
      const again = await begin(endpoint, step === "repo" ? `${image.repo}-of-upload` : image.repo);
      assert.equal((await putBlob(again, image.layer, endpoint)).status, 201, `${step}: another upload begins`);
      if (step === "repo") await putBlob(await begin(endpoint, image.repo), image.layer, endpoint);
    }
  }
  assert.equal((await putManifest(image, endpoint)).status, 201);
  await checkServed(image, endpoint);
}

test("a push that is cut off at any step is continued, and what it left is swept", async (t) => {
  // Each in a repo of its own.
  const steps = Object.keys(STEPS) as Cut[];
  for (let at = 0; at < steps.length; at += CONCURRENT)
    await Promise.all(steps.slice(at, at + CONCURRENT).map((step) => cutOff(t, step)));
  const config = { ...(endpoint.deps.config as Config), uploadTtlMs: -60_000 };
  assert.deepEqual(await foundBy(config, { repair: false }), [`content-without-blob ${LEFT.length}`]);
  const swept = await cleanUploads({ ...endpoint.deps, config });
  assert.deepEqual(swept, { uploads: 2, blobs: LEFT.length }, "two rows without a file, and content without a record");
  assert.deepEqual(await foundBy(config, { repair: false }), []);
});

test(
  "a blob whose record a crash of the machine took back is refused, sent again, and served",
  { skip: ENGINE === "postgres" && "the log of the other engine is not in the data folder" },
  async (t) => {
    const dataDir = temporaryFolder(t);
    const first = await openEndpoint(dataDir);
    t.after(() => dropDatabase(dataDir));
    const as = await first.bearer({ identity: await first.addIdentity(first.acme) });
    await first.close();
    const { child, url } = await startChild(t, dataDir, "nothing");
    const [whole, lost] = [newImage("acme/whole"), newImage("acme/lost")];
    const asking = { url, as };
    for (const content of [whole.config, whole.layer])
      assert.equal((await putBlob(await begin(asking, whole.repo), content, asking)).status, 201);
    const upload = await begin(asking, lost.repo);
    assert.equal((await putManifest(whole, asking)).status, 201);
    // What is on the disk for certain: the log as it was synced with the manifest.
    const files = ["moorage.db", "moorage.db-wal"].map((name) => join(dataDir, name)).filter(existsSync);
    assert.equal(files.length, 2);
    for (const file of files) copyFileSync(file, `${file}.synced`);
    for (const each of [upload, await begin(asking, lost.repo)])
      assert.equal((await putBlob(each, each === upload ? lost.layer : lost.config, asking)).status, 201);
    child.kill("SIGKILL");
    await ended(child);
    for (const file of files) copyFileSync(`${file}.synced`, file);
    rmSync(join(dataDir, "moorage.db-shm"));

    const next = await startChild(t, dataDir, "nothing");
    const again = { url: next.url, as };
    await checkServed(whole, again);
    assert.equal((await ask("HEAD", `/v2/${lost.repo}/blobs/${sha(lost.layer)}`, again)).status, 404);
    await rejection(await putManifest(lost, again), 400, "MANIFEST_BLOB_UNKNOWN");
    assert.equal((await putBlob(upload, lost.layer, again)).status, 201, "the end of the upload was taken back, too");
    assert.equal((await putBlob(await begin(again, lost.repo), lost.config, again)).status, 201);
    assert.equal((await putManifest(lost, again)).status, 201);
    await checkServed(lost, again);
    const end = once(next.child, "exit");
    next.child.kill("SIGKILL");
    await end;
  },
);
