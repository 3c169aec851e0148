import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { loadConfig, signToken, startServer, StoreError } from "../../src/index.ts";
import { temporaryFolder } from "../support/installation.ts";
import { eventually } from "../support/eventually.ts";

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

async function startChild(
  dataDir: string,
): Promise<{ child: ChildProcess; url: string; headers: Record<string, string> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "..", "support", "child-server.ts")], {
    env: { ...process.env, MOORAGE_DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { token } = await signToken({
    config: loadConfig({ MOORAGE_DATA_DIR: dataDir }),
    audience: "registry",
    ttlMs: 600_000,
  });
  return { child, url: line.toString().trim(), headers: { authorization: `Bearer ${token}` } };
}

/** Pushes one image of two new blobs under the tag. Returns its digest. */
async function push(url: string, headers: Record<string, string>, tag: string): Promise<string> {
  const [config, layer] = [
    Buffer.from(JSON.stringify({ architecture: "amd64", os: "linux", nonce: randomBytes(8).toString("hex") })),
    randomBytes(200_000),
  ];
  for (const blob of [config, layer]) {
    const response = await fetch(`${url}/v2/acme/durable/blobs/uploads/?digest=${digestOf(blob)}`, {
      method: "POST",
      headers,
      body: blob,
    });
    if (response.status !== 201) throw new Error(`blob: ${response.status} ${await response.text()}`);
  }
  const descriptor = (mediaType: string, blob: Buffer) => ({ mediaType, digest: digestOf(blob), size: blob.length });
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: descriptor("application/vnd.oci.image.config.v1+json", config),
    layers: [descriptor("application/vnd.oci.image.layer.v1.tar", layer)],
  });
  const response = await fetch(`${url}/v2/acme/durable/manifests/${tag}`, {
    method: "PUT",
    headers: { ...headers, "content-type": MANIFEST },
    body: manifest,
  });
  if (response.status !== 201) throw new Error(`manifest: ${response.status} ${await response.text()}`);
  return digestOf(Buffer.from(manifest));
}

interface Manifest {
  config: { digest: string };
  layers: { digest: string }[];
}

async function checkWhole(url: string, headers: Record<string, string>, reference: string): Promise<string> {
  const response = await fetch(`${url}/v2/acme/durable/manifests/${reference}`, { headers });
  assert.equal(response.status, 200);
  const bytes = Buffer.from(await response.arrayBuffer());
  const manifest = JSON.parse(bytes.toString()) as Manifest;
  for (const { digest } of [manifest.config, ...manifest.layers]) {
    const blob = await fetch(`${url}/v2/acme/durable/blobs/${digest}`, { headers });
    assert.equal(blob.status, 200);
    assert.equal(digestOf(Buffer.from(await blob.arrayBuffer())), digest);
  }
  return digestOf(bytes);
}

test("a server killed during pushes leaves each tag complete, in its old state or its new one", async (t) => {
  const dataDir = temporaryFolder(t);
  const answered: string[] = [];
  for (let round = 0; round < 5; round++) {
    const { child, url, headers } = await startChild(dataDir);
    t.after(() => child.kill("SIGKILL"));
    let running = true;
    let failure: unknown;
    const pushers = Array.from({ length: 3 }, async () => {
      while (running) {
        try {
          answered.push(await push(url, headers, "latest"));
        } catch (error) {
          if (running) failure ??= error;
          if (running) return;
        }
      }
    });
    // At an arbitrary moment: after a number of pushes, and a little more.
    const goal = answered.length + 2 + round * 3;
    await eventually(() => answered.length >= goal || failure !== undefined);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
    running = false;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    await Promise.all(pushers);
    assert.ifError(failure);
  }
  const { child, url, headers } = await startChild(dataDir);
  t.after(() => child.kill("SIGKILL"));
  const current = await checkWhole(url, headers, "latest");
  const history = await fetch(`${url}/v2/acme/durable/_service/history/latest`, { headers });
  const records = ((await history.json()) as { history: { digest: string; updateTimestamp: string }[] }).history;
  assert.equal(records.at(-1)?.digest, current, "the tag is the last of its history");
  assert.deepEqual(
    records.map(({ updateTimestamp }) => updateTimestamp),
    records.map(({ updateTimestamp }) => updateTimestamp).toSorted(),
    "in order",
  );
  const recorded = new Set(records.map(({ digest }) => digest));
  for (const digest of answered) assert.ok(recorded.has(digest), "a push that was answered is in the history");
  for (const digest of recorded) await checkWhole(url, headers, digest);
});

test("a data folder of a newer version is refused, and left as it was", async (t) => {
  const dataDir = temporaryFolder(t);
  const settings = loadConfig({ MOORAGE_PORT: "0", MOORAGE_DATA_DIR: dataDir, MOORAGE_LOG_LEVEL: "silent" });
  await (await startServer(settings)).close();
  const database = new DatabaseSync(join(dataDir, "moorage.db"));
  database.exec("pragma user_version = 9999");
  database.close();
  await assert.rejects(
    startServer(settings),
    (error: Error) => error instanceof StoreError && /version 9999, newer/.test(error.message),
  );
});

test("a second installation on the same data folder is refused while the first runs, and not after", async (t) => {
  const settings = loadConfig({ MOORAGE_PORT: "0", MOORAGE_DATA_DIR: temporaryFolder(t), MOORAGE_LOG_LEVEL: "silent" });
  const first = await startServer(settings);
  await assert.rejects(
    startServer(settings),
    (error: Error) => error instanceof StoreError && /in use/.test(error.message),
  );
  await first.close();
  await (await startServer(settings)).close();
});

test("a full disk is a clear error, loses nothing, and pushes succeed when there is space again", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-durability-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=6m", "tmpfs", dataDir]).status === 0;
  if (!mounted) {
    rmSync(dataDir, { recursive: true, maxRetries: 10 });
    t.skip("needs the right to mount a small tmpfs: run the tests as root on Linux");
    return;
  }
  const { child, url, headers } = await startChild(dataDir);
  try {
    const kept = await push(url, headers, "kept");
    const big = randomBytes(16 << 20);
    const refused = await fetch(`${url}/v2/acme/durable/blobs/uploads/?digest=${digestOf(big)}`, {
      method: "POST",
      headers,
      body: big,
    });
    assert.equal(refused.status, 507);
    assert.match(await refused.text(), /storage is full/i);
    assert.equal(await checkWhole(url, headers, "kept"), kept);
    assert.equal(
      await push(url, headers, "after"),
      await checkWhole(url, headers, "after"),
      "the space of the refused upload is free again",
    );
  } finally {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    execFileSync("umount", [dataDir]);
    rmSync(dataDir, { recursive: true, maxRetries: 10 });
  }
});
