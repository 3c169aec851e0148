import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { closeSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { type DiskServer, newDataDir, startDiskServer } from "../support/disk-server.ts";
import { npmPath, publishDocument } from "../support/npm.ts";
import { smallDisk } from "../support/small-disk.ts";

const LIMIT = { timeout: 300_000 };
const SIZE_MIB = 24;
const RESERVE_BYTES = 1 << 20;

/** Fills the disk to its last block, until the function that it returns is called. */
function fillUp(folder: string): () => void {
  const path = join(folder, "ballast");
  const file = openSync(path, "a");
  for (const size of [1 << 20, 4096, 1]) {
    const chunk = randomBytes(size);
    try {
      for (;;) writeSync(file, chunk);
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
    }
  }
  closeSync(file);
  assert.equal(statfsSync(folder).bavail, 0);
  return () => rmSync(path);
}

/** Sends the head of a push, waits for the first bytes of the answer, and sends the body after them or before. */
async function rawPush(server: DiskServer, body: Buffer, { waits }: { waits: boolean }): Promise<string> {
  const { path, headers } = server.pushHead(body);
  const socket = connect(server.port, "127.0.0.1");
  const expect = waits ? "expect: 100-continue\r\n" : "";
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}content-length: ${body.length}\r\n${expect}\r\n`,
    "latin1",
  );
  // A client that looks at the answer only when it has sent everything.
  if (!waits)
    await new Promise<void>((resolve, reject) => socket.write(body, (error) => (error ? reject(error) : resolve())));
  let text = "";
  for await (const chunk of socket) {
    text += (chunk as Buffer).toString("latin1");
    if (/\r\n\r\n.*\}$/s.test(text)) break;
  }
  socket.destroy();
  return text;
}

test("a disk that has too little space, and one that is full", LIMIT, async (t) => {
  const disk = smallDisk(t, SIZE_MIB);
  if (disk === undefined) return;
  const env = { MOORAGE_DISK_RESERVE: String(RESERVE_BYTES), MOORAGE_CATALOG_IMAGES: "0" };
  const server = await startDiskServer(t, disk, env);
  const kept = randomBytes(300_000);
  assert.equal((await server.push(kept)).status, 201);

  await t.test("what is larger than the space gets 507 before its body is read, and is no full disk", async () => {
    const large = randomBytes((SIZE_MIB + 8) << 20);
    const scarce = await rawPush(server, large, { waits: true });
    assert.match(scarce, /^HTTP\/1\.1 507 Insufficient Storage: .*no space left on device/);
    assert.doesNotMatch(scarce, /100 Continue/);
    assert.match(await rawPush(server, large, { waits: false }), /^HTTP\/1\.1 507 .*"code":"DENIED"/s);
    assert.match((await server.ready()).text, /^ready, but the blob store has too little space/);
    assert.equal(await server.metric("moorage_storage_full"), 0, "there is space for what is smaller");
    assert.equal((await server.push(randomBytes(300_000))).status, 201);
    const { bavail, bsize } = statfsSync(disk);
    const free = (await server.metric("moorage_storage_free_bytes")) ?? -1;
    assert.ok(Math.abs(free - bavail * bsize) < 4 << 20, `${free} of ${bavail * bsize}`);
  });

  const empty = fillUp(disk);
  await t.test("pushes get 507 with a code and a text, before the body and after it", async () => {
    const refused = await server.push(randomBytes(300_000));
    assert.equal(refused.status, 507, refused.text);
    const { errors } = JSON.parse(refused.text) as { errors: { code: string; message: string }[] };
    assert.equal(errors[0]?.code, "DENIED");
    assert.match(errors[0].message, /storage is full: no space left on device/);
    for (const waits of [true, false]) {
      const answer = await rawPush(server, randomBytes(2 << 20), { waits });
      assert.match(answer, /^HTTP\/1\.1 507 /);
      assert.doesNotMatch(answer, /100 Continue/);
    }
    const document = JSON.stringify(publishDocument("left", "1.0.0"));
    const published = await server.ask("PUT", npmPath("acme", "left"), document, {
      "content-type": "application/json",
    });
    assert.equal(published.status, 507, published.text);
    assert.match(published.text, /storage is full/);
    const written = await server.write("team");
    assert.ok([200, 429].includes(written.status), "RESOURCE_EXHAUSTED of the API stays 429");
    assert.equal((await server.pull(kept)).status, 200);
  });

  await t.test("skopeo prints why its push failed", (skopeo) => {
    if (spawnSync("skopeo", ["--version"]).error !== undefined) return skopeo.skip("skopeo is not there");
    const folder = newDataDir(t);
    writeImage(folder);
    const token = /Bearer (\S+)/.exec(server.pushHead(kept).headers)?.[1] ?? "";
    const flags = ["--dest-tls-verify=false", `--dest-registry-token=${token}`];
    const target = `docker://127.0.0.1:${server.port}/acme/app:v1`;
    const options = { encoding: "utf8", timeout: 60_000 } as const;
    const { status, stderr } = spawnSync("skopeo", ["copy", ...flags, `dir:${folder}`, target], options);
    assert.notEqual(status, 0);
    assert.match(stderr, /507 Insufficient Storage: storage is full: no space left on device/);
  });

  await t.test("the log has one ERROR line with folder and bytes; metrics and /readyz say it", async () => {
    await server.logged(({ msg }) => msg.includes("the blob store is full"));
    const lines = server.lines.filter(({ level, msg }) => level === 50 && /\bfull\b/.test(msg));
    assert.equal(lines.length, 1, "one line, and not one for each request");
    assert.equal(lines[0]?.["folder"], disk);
    assert.equal(lines[0]["freeBytes"], 0);
    assert.match(lines[0].msg, new RegExp(`${disk} has 0 of \\d+ bytes.* free; refused: pushes.*moorage gc`));
    assert.equal(await server.metric("moorage_storage_full"), 1);
    assert.equal(await server.metric("moorage_storage_free_bytes"), 0);
    const { status, text } = await server.ready();
    assert.equal(status, 503);
    assert.match(
      text,
      /^not ready: the blob store is full(?:; the database is full)?; refused: pushes, .*; served: pulls/,
    );
    assert.doesNotMatch(text, new RegExp(disk), "paths of the machine are not for everybody");
  });

  await t.test("with space again all is as before, and the log says so", async () => {
    empty();
    await server.until(server.ready, (answer) => answer.text === "ready");
    await server.logged(({ msg }) => msg.startsWith("storage has space again"));
    assert.equal(await server.metric("moorage_storage_full"), 0);
    assert.equal((await server.push(randomBytes(300_000))).status, 201);
  });
  assert.equal(await server.stop(), 0);
});

/** Writes an image of one layer in skopeo's form of a folder. */
function writeImage(folder: string): void {
  const write = (content: Buffer): { digest: string; size: number } => {
    const hex = createHash("sha256").update(content).digest("hex");
    writeFileSync(join(folder, hex), content);
    return { digest: `sha256:${hex}`, size: content.length };
  };
  const config = write(Buffer.from(JSON.stringify({ architecture: "amd64", os: "linux", rootfs: { type: "layers" } })));
  const layer = write(randomBytes(100_000));
  const manifest = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: { mediaType: "application/vnd.oci.image.config.v1+json", ...config },
    layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", ...layer }],
  };
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "version"), "Directory Transport Version: 1.1\n");
}
