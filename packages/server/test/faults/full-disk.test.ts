import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openIssuer } from "../support/issuer.ts";
import { startProcess } from "../support/processes.ts";
import { loadConfig, readBootstrap, signToken } from "../../src/index.ts";
import { eventually } from "../support/eventually.ts";

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

/** A file system of 80 MiB of its own; undefined, with the reason, where none may be mounted. */
function smallDisk(t: TestContext): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "moorage-full-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=80m", "moorage-test", folder], { stdio: "pipe" });
  } catch (error) {
    rmSync(folder, { recursive: true, maxRetries: 10 });
    t.skip(`no file system can be mounted here: ${(error as { stderr?: Buffer }).stderr?.toString().trim() ?? ""}`);
    return undefined;
  }
  t.after(() => {
    execFileSync("umount", ["--lazy", folder], { stdio: "pipe" });
    rmSync(folder, { recursive: true, maxRetries: 10 });
  });
  return folder;
}

/** Fills the disk to its last block. */
function fillUp(folder: string): void {
  const file = openSync(join(folder, "ballast"), "a");
  const sizes = [1 << 20, 4096, 1];
  for (const size of sizes) {
    const chunk = randomBytes(size);
    for (;;) {
      try {
        writeSync(file, chunk);
      } catch {
        break;
      }
    }
  }
  closeSync(file);
  assert.equal(statfsSync(folder).bavail, 0);
}

test(
  "on a full disk reads, exchange and /token go on, deletes and collection work and bring space back",
  { timeout: 300_000 },
  async (t) => {
    const disk = smallDisk(t);
    if (disk === undefined) return;
    const env = {
      MOORAGE_DATA_DIR: disk,
      MOORAGE_DATABASE_URL: "",
      MOORAGE_DISK_RESERVE: String(8 << 20),
      MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
      MOORAGE_GC_INTERVAL: "1s",
      MOORAGE_GC_GRACE: "3s",
    };
    const server = await startProcess(t, env);
    const issuer = await openIssuer();
    t.after(() => issuer.close());
    const { organization } = readBootstrap(disk);
    const settings = loadConfig({ ...env, MOORAGE_BASE_URL: server.url });
    const platform = (await signToken({ config: settings, audience: "platform", ttlMs: 3_600_000 })).token;
    const registry = (await signToken({ config: settings, audience: "registry", ttlMs: 3_600_000 })).token;
    const ask = async (
      method: string,
      path: string,
      token: string,
      body?: string | Buffer,
      type = "application/json",
    ) => {
      const answer = await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": type }) },
        ...(body !== undefined && { body: new Uint8Array(Buffer.from(body)) }),
      });
      return { status: answer.status, text: await answer.text() };
    };
    const api = (method: string, path: string, body?: object) =>
      ask(method, path, platform, body === undefined ? undefined : JSON.stringify(body));
    const digestOf = (bytes: Buffer): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    const push = async (bytes: Buffer) =>
      ask("POST", `/v2/acme/app/blobs/uploads/?digest=${digestOf(bytes)}`, registry, bytes, "application/octet-stream");

    const robot = await api("POST", `/iam/v2/identities/${organization.uid}`, {
      name: "robot",
      claimMatch: { issuer: issuer.url, subject: "robot" },
    });
    assert.equal(robot.status, 200, robot.text);
    const blob = randomBytes(24 << 20);
    const config = Buffer.from("{}");
    for (const content of [blob, config]) assert.equal((await push(content)).status, 201);
    const descriptor = (mediaType: string, bytes: Buffer) => ({
      mediaType,
      digest: digestOf(bytes),
      size: bytes.length,
    });
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: descriptor("application/vnd.oci.image.config.v1+json", config),
        layers: [descriptor("application/vnd.oci.image.layer.v1.tar", blob)],
      }),
    );
    const put = await ask("PUT", "/v2/acme/app/manifests/v1", registry, manifest, MANIFEST);
    assert.equal(put.status, 201, put.text);
    const trade = async (path: string, headers: Record<string, string>) => {
      const answer = await fetch(server.url + path, { headers });
      return { status: answer.status, text: await answer.text() };
    };
    const seconds = Math.floor(Date.now() / 1000);
    const external = await issuer.sign({
      iss: issuer.url,
      sub: "robot",
      aud: server.url,
      iat: seconds,
      exp: seconds + 600,
    });
    const goOn = async (when: string): Promise<void> => {
      const exchanged = await trade("/sts/exchange", { authorization: `Bearer ${external}` });
      assert.equal(exchanged.status, 200, `${when}: ${exchanged.text}`);
      const basic = Buffer.from(`robot:${external}`).toString("base64");
      const token = await trade("/token?scope=repository:acme/app:pull", { authorization: `Basic ${basic}` });
      assert.equal(token.status, 200, `${when}: ${token.text}`);
      const pulled = await ask("GET", `/v2/acme/app/blobs/${digestOf(blob)}`, registry);
      assert.equal(pulled.status, 200, when);
      assert.equal((await api("GET", "/iam/v2/groups")).status, 200, when);
    };
    await goOn("before");
    // The server takes its reserve some seconds after its start.
    await eventually(() => existsSync(join(disk, "disk-reserve")));

    fillUp(disk);
    await goOn("when the disk is full");
    const created = await api("POST", "/iam/v2/groups", { name: "more" });
    assert.equal(created.status, 429, created.text);
    assert.match(created.text, /storage is full/);
    const pushed = await push(randomBytes(1 << 20));
    assert.notEqual(pushed.status, 201);
    await goOn("after a push that failed");

    const removed = await ask("DELETE", `/v2/acme/app/manifests/${digestOf(manifest)}`, registry);
    assert.equal(removed.status, 202, removed.text);
    const identityUid = (JSON.parse(robot.text) as { uid: string }).uid;
    const left = await api("DELETE", `/iam/v2/identities/${identityUid}`);
    assert.equal(left.status, 200, left.text);
    await server.stop();
  },
);
