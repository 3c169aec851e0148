import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type Answer, type DiskServer, newDataDir, startDiskServer } from "../support/disk-server.ts";
import { makeReadOnly, smallDisk } from "../support/small-disk.ts";
import { eventually } from "../support/eventually.ts";

const LIMIT = { timeout: 300_000 };

/** Fails unless the answer says that the storage is at fault, and when to come again. */
function assertUnavailable({ status, text, retryAfter }: Answer, reason: RegExp): void {
  assert.equal(status, 503, text);
  assert.match(text, reason);
  assert.notEqual(retryAfter, null, "there is a Retry-After");
}

/** Waits until the server is ready again, and writes. */
async function assertHealed(server: DiskServer, blob: Buffer): Promise<void> {
  await server.until(server.ready, ({ text }) => text === "ready");
  assert.equal((await server.write(`healed-${blob.toString("hex", 0, 4)}`)).status, 200);
  const pushed = await server.push(blob);
  assert.equal(pushed.status, 201, pushed.text);
  assert.equal((await server.pull(blob)).status, 200);
}

async function assertReported(server: DiskServer, part: string, reason: string, line: string): Promise<void> {
  const { status, text } = await server.ready();
  assert.equal(status, 503, text);
  assert.ok(text.includes(line), text);
  assert.equal((await server.healthy()).status, 200, "a restart does not mend it");
  await server.logged((each) => each.msg === line && each["reason"] === reason);
  assert.equal(await server.metric(`moorage_storage_failing{part="${part}",reason="${reason}"}`), 1);
}

test(
  "a read-only data disk is 503 with its reason in answers, log, metric and /readyz, and heals",
  LIMIT,
  async (t) => {
    const dataDir = newDataDir(t);
    const server = await startDiskServer(t, dataDir);
    const kept = randomBytes(300_000);
    assert.equal((await server.push(kept)).status, 201);
    const makeWritable = makeReadOnly(t, dataDir);
    if (makeWritable === undefined) return;
    assertUnavailable(await server.push(randomBytes(300_000)), /the blob store is read-only/);
    assert.equal((await server.pull(kept)).status, 200, "what is there is still read");
    await assertReported(server, "blobs", "read_only", "the blob store is read-only");
    // The next thread has to open the database, which is read-only from then on.
    process.kill(server.pid, "SIGUSR2");
    const refused = await server.until(
      () => server.write("one"),
      ({ text }) => text.includes("read-only"),
    );
    assertUnavailable(refused, /the database is read-only/);
    await assertReported(server, "database", "read_only", "the database is read-only");
    assert.match((await server.ready()).text, /^not ready: .*the database is read-only/);
    makeWritable();
    await assertHealed(server, randomBytes(300_000));
    assert.equal(await server.stop(), 0);
  },
);

test(
  "a data folder that goes away takes no writes and comes back; another in its place is for a restart",
  LIMIT,
  async (t) => {
    const outer = newDataDir(t);
    const dataDir = join(outer, "data");
    const away = join(outer, "away");
    mkdirSync(dataDir);
    const server = await startDiskServer(t, dataDir);
    const kept = randomBytes(300_000);
    assert.equal((await server.push(kept)).status, 201);

    renameSync(dataDir, away);
    assertUnavailable(await server.write("one"), /the database is not there/);
    assertUnavailable(await server.push(randomBytes(300_000)), /is not there/);
    assertUnavailable(await server.pull(kept), /the blob store is not there/);
    await assertReported(server, "database", "missing", "the database is not there");

    // An empty folder in its place, such as a mount point: nothing is created in it.
    mkdirSync(dataDir);
    assertUnavailable(await server.write("two"), /the database is not there/);
    assertUnavailable(await server.push(randomBytes(300_000)), /is not there/);
    assert.deepEqual(readdirSync(dataDir), []);
    rmSync(dataDir, { recursive: true, maxRetries: 10 });

    renameSync(away, dataDir);
    await assertHealed(server, randomBytes(300_000));

    // Another file at the path of the database: what is written to the open one would be lost.
    const database = join(dataDir, "moorage.db");
    renameSync(database, join(outer, "moorage.db"));
    copyFileSync(join(outer, "moorage.db"), database);
    assertUnavailable(await server.write("three"), /replaced by another/);
    assert.equal((await server.healthy()).status, 503);
    assert.match((await server.healthy()).text, /replaced by another/);
    renameSync(join(outer, "moorage.db"), database);
    await server.until(server.healthy, ({ status }) => status === 200);
    await assertHealed(server, randomBytes(300_000));
    assert.equal(await server.stop(), 0);
  },
);

/** Lowers the limit of open files of a running process to what it has open, or raises it. */
function limitFiles(t: TestContext, pid: number, limit: number): boolean {
  try {
    execFileSync("prlimit", ["--pid", String(pid), `--nofile=${limit}:`], { stdio: "pipe" });
    return true;
  } catch (error) {
    t.skip(`the limit of open files cannot be changed here: ${String(error).split("\n")[0] ?? ""}`);
    return false;
  }
}

test("too many open files are 503 with the reason in answers, log, metric and /readyz, and heal", LIMIT, async (t) => {
  const server = await startDiskServer(t, newDataDir(t));
  const kept = randomBytes(300_000);
  assert.equal((await server.push(kept)).status, 201);
  assert.equal((await server.write("zero")).status, 200);
  const sockets: Socket[] = [];
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  // Connections that are open before, since no further ones can be accepted.
  const open = async (): Promise<(head: string) => Promise<string>> => {
    const socket = connect(server.port, "127.0.0.1");
    sockets.push(socket);
    await new Promise((resolve) => socket.once("connect", resolve));
    let seen = "";
    socket.setEncoding("latin1").on("data", (text: string) => (seen += text));
    return async (head) => {
      seen = "";
      socket.write(head);
      await eventually(() => /\r\n\r\n/.test(seen));
      await new Promise((resolve) => setTimeout(resolve, 50));
      return seen;
    };
  };
  const [asks, probes, scrapes] = [await open(), await open(), await open()];
  const get = (path: string, more = ""): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${more}\r\n`;
  for (const each of [asks, probes, scrapes]) assert.match(await each(get("/readyz")), /200 OK/);
  const { headers, path } = server.pullHead(kept);
  const files = readdirSync(`/proc/${server.pid}/fd`).length;
  if (!limitFiles(t, server.pid, files - 1)) return;
  const failed = await asks(get(path, headers));
  assert.match(failed, /^HTTP\/1.1 503 /);
  assert.match(failed, /retry-after: /i);
  assert.match(failed, /too many files are open/);
  const notReady = await probes(get("/readyz"));
  assert.match(notReady, /^HTTP\/1.1 503 /);
  assert.match(notReady, /not ready: the blob store cannot be opened: too many files are open/);
  assert.match(await scrapes(get("/metrics")), /^HTTP\/1.1 200 /);
  await server.logged((line) => line["reason"] === "open_files" && line["part"] === "blobs");
  assert.ok(limitFiles(t, server.pid, 4096));
  await assertHealed(server, randomBytes(300_000));
  assert.equal(await server.stop(), 0);
});

test("without inodes, and with files where folders should be, writes are answered and heal", LIMIT, async (t) => {
  const disk = smallDisk(t, 200, 120);
  if (disk === undefined) return;
  const server = await startDiskServer(t, disk, { MOORAGE_DISK_RESERVE: String(1 << 20) });
  assert.equal((await server.push(randomBytes(300_000))).status, 201);
  const ballast = join(disk, "ballast");
  mkdirSync(ballast);
  try {
    for (let count = 0; ; count += 1) writeFileSync(join(ballast, String(count)), "", { flag: "wx" });
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
  }
  const refused = await server.push(randomBytes(300_000));
  assert.equal(refused.status, 507, refused.text);
  assert.match(refused.text, /storage is full/);
  assert.match((await server.ready()).text, /^not ready: the blob store is full/);
  // The thread that writes goes on whatever becomes of the reserve.
  await server.until(server.ready, ({ text }) => text.includes("disk reserve") || text.includes("full"));
  for (let round = 0; round < 5; round += 1) {
    const answer = await server.write(`without-${round}`);
    assert.ok([200, 429, 503].includes(answer.status), answer.text);
  }
  rmSync(ballast, { recursive: true, maxRetries: 10 });
  await assertHealed(server, randomBytes(300_000));
  assert.equal(await server.stop(), 0);
});
