import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { databaseEnv, dropDatabase } from "../support/database.ts";
import { type ServerProcess, startProcess } from "../support/processes.ts";
import { freePort } from "../support/unused-port.ts";
import { eventually } from "../support/eventually.ts";

const LIMIT = { timeout: 300_000 };

/** The settings of two workers on an installation that does not exist yet. */
async function twoWorkers(t: TestContext): Promise<Record<string, string> & { MOORAGE_DATA_DIR: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-workers-"));
  t.after(async () => {
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  });
  return { MOORAGE_DATA_DIR: dataDir, MOORAGE_WORKERS: "2", ...(await databaseEnv(dataDir)) };
}

test("a server that is ready for the first time has written its bootstrap file", LIMIT, async (t) => {
  const env = await twoWorkers(t);
  const port = await freePort();
  const starting = startProcess(t, { ...env, MOORAGE_PORT: String(port) });
  const isReady = async (): Promise<boolean> => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.status === 200;
  };
  await eventually(isReady);
  assert.ok(existsSync(join(env.MOORAGE_DATA_DIR, "bootstrap.json")));
  assert.equal(await (await starting).stop(), 0);
});

/** Opens a connection and waits for an answer on it, so that a worker has it. */
async function opened(t: TestContext, { port }: ServerProcess): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  await once(socket, "connect");
  socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await once(socket, "data");
  return socket;
}

/** How many connections of the port the process has open. */
function held(pid: number, port: number): number {
  // Source: proc_net_tcp.rst of the Linux kernel: the local address is the second column, the inode the tenth.
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const ofPort = new Set(
    readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, address]) => address?.endsWith(local))
      .map(([, , , , , , , , , inode]) => `socket:[${inode}]`),
  );
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((fd) => {
    try {
      return ofPort.has(readlinkSync(join(folder, fd)));
    } catch {
      return false;
    }
  }).length;
}

test(
  "each connection goes to the worker that has the fewest open",
  { ...LIMIT, skip: !existsSync("/proc/net/tcp") },
  async (t) => {
    const server = await startProcess(t, await twoWorkers(t));
    const listening = () => server.lines.filter(({ msg }) => msg === "listening");
    await eventually(() => listening().length >= 2);
    const pids = listening().map(({ pid }) => pid);
    const shares = (): number[] => pids.map((pid) => held(pid, server.port));
    /**
     * Opens so many, one after another, until each worker has ten, and answers the sockets of the first worker. The
     * first process hears of closed connections a moment later: what it does before that does not count.
     */
    const openedEvenly = async (count: number): Promise<Socket[]> => {
      for (const before = shares(); ; await wait(200)) {
        const sockets: { socket: Socket; isFirst: boolean }[] = [];
        for (let at = 0; at < count; at += 1) {
          const [first] = shares();
          const socket = await opened(t, server);
          sockets.push({ socket, isFirst: shares()[0] !== first });
        }
        if (shares().every((share) => share === 10))
          return sockets.filter(({ isFirst }) => isFirst).map(({ socket }) => socket);
        for (const { socket } of sockets) socket.destroy();
        await eventually(() => !shares().some((share, at) => share !== before[at]));
      }
    };

    const together = await Promise.all(Array.from({ length: 40 }, () => opened(t, server)));
    assert.deepEqual(shares(), [20, 20]);
    for (const socket of together) socket.destroy();
    await eventually(() => !shares().some((count) => count > 0));

    for (const socket of await openedEvenly(20)) socket.destroy();
    await eventually(() => Math.min(...shares()) <= 0);
    await openedEvenly(10);
    assert.equal(await server.stop(), 0);
  },
);

test("connections that arrive while no worker lives are served by the next one", LIMIT, async (t) => {
  const server = await startProcess(t, await twoWorkers(t));
  const listening = () => server.lines.filter(({ msg }) => msg === "listening");
  await eventually(() => listening().length >= 2);
  for (const { pid } of listening()) process.kill(pid, "SIGKILL");
  await eventually(() => server.lines.filter(({ msg }) => msg === "worker ended").length >= 2);
  const socket = connect(server.port, "127.0.0.1");
  t.after(() => socket.destroy());
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => (text += part));
  socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
  await once(socket, "close");
  assert.match(text, /^HTTP\/1\.1 200 /);
  assert.equal(await server.stop(), 0);
});
