import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect as http2Connect } from "node:http2";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { GroupsService } from "@moorage/api";
import { loadConfig, signToken } from "../../src/index.ts";
import { temporaryFolder } from "../support/installation.ts";
import { selfSigned } from "../support/certificate.ts";
import { databaseEnv, dropDatabase } from "../support/database.ts";
import { openGrpc } from "../support/grpc.ts";
import { type LogLine, type ServerProcess, startProcess } from "../support/processes.ts";
import { eventually } from "../support/eventually.ts";

const LIMIT = { timeout: 300_000 };
const WORKERS = 3;

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** An installation of several processes, and tokens of its owner. */
async function startHouse(t: TestContext, more: Record<string, string> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-workers-"));
  const env = { MOORAGE_DATA_DIR: dataDir, MOORAGE_WORKERS: String(WORKERS), ...(await databaseEnv(dataDir)), ...more };
  const server = await startProcess(t, env);
  // Hooks run in the order of their registration: the server has ended before its folder is removed.
  t.after(async () => {
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  });
  const config = loadConfig(env);
  const tokenFor = async (audience: "platform" | "registry"): Promise<string> =>
    (await signToken({ config, audience, ttlMs: 600_000 })).token;
  return { ...server, dataDir, env, platform: await tokenFor("platform"), registry: await tokenFor("registry") };
}

/** One request on a connection of its own: the processes accept connections in turn. */
async function ask(
  url: string,
  method: string,
  token: string,
  body?: Uint8Array | string,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const req = request(
    url,
    {
      method,
      agent: false,
      headers: {
        ...(token !== "" && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
        ...headers,
      },
    },
    (res) => {
      text(res).then(
        (content) => resolve({ status: res.statusCode ?? 0, headers: res.headers, text: content }),
        reject,
      );
    },
  );
  req.setTimeout(100_000, () => req.destroy(new Error("no answer")));
  req.on("error", reject).end(body);
  return promise;
}

const digestOf = (content: Uint8Array): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;
const listening = ({ lines }: Pick<ServerProcess, "lines">): LogLine[] =>
  lines.filter(({ msg }) => msg === "listening");

/** Whether a request is writing a blob that comes whole. */
const isStoring = ({ dataDir }: { dataDir: string }, content: Uint8Array): boolean =>
  readdirSync(join(dataDir, "blobs"), { recursive: true, encoding: "utf8" }).some((name) =>
    name.includes(digestOf(content).slice("sha256:".length)),
  );

/** Whether a request is writing to an upload. */
const isUploading = ({ dataDir }: { dataDir: string }): boolean =>
  readdirSync(join(dataDir, "uploads")).some((name) => name.endsWith(".lock"));

test("several processes serve one port, by every protocol, and share their counters", LIMIT, async (t) => {
  const house = await startHouse(t);
  // Each process writes its own lines, at its own time.
  await eventually(() => listening(house).length === WORKERS);
  const workers = listening(house);
  assert.deepEqual(workers.map(({ worker }) => worker).sort(), [1, 2, 3], "the log distinguishes the workers");
  assert.equal(new Set(workers.map(({ pid }) => pid)).size, WORKERS);
  assert.ok(!workers.some(({ pid }) => pid === house.pid));
  assert.deepEqual([...new Set(workers.map(({ port }) => port))], [Number(new URL(house.url).port)]);

  for (let at = 0; at < 2 * WORKERS; at++)
    assert.equal((await ask(`${house.url}/iam/v2/groups`, "GET", house.platform)).status, 200);
  for (let at = 0; at < WORKERS; at++) {
    const grpc = openGrpc(house.url);
    const { message, error } = await grpc.call(GroupsService.method.listGroups, {}, house.platform);
    grpc.close();
    assert.deepEqual([error, message?.groups.length], [undefined, 2]);
  }
  const metrics = await ask(`${house.url}/metrics`, "GET", "");
  assert.match(metrics.text, /moorage_rpc_requests_total\{[^}]*ListGroups[^}]*\} 9\n/, "what all counted, added up");
  for (let worker = 1; worker <= WORKERS; worker++)
    assert.match(metrics.text, new RegExp(`process_resident_memory_bytes\\{[^}]*worker="${worker}"[^}]*\\} \\d`));
  assert.equal(await house.stop(), 0);
  assert.equal(house.lines.filter(({ msg }) => msg === "closed").length, WORKERS);
});

test("TLS and ALPN over several processes", LIMIT, async (t) => {
  const folder = temporaryFolder(t);
  const pair = selfSigned();
  writeFileSync(join(folder, "cert.pem"), pair.cert);
  writeFileSync(join(folder, "key.pem"), pair.key);
  const house = await startHouse(t, {
    MOORAGE_TLS_CERT: join(folder, "cert.pem"),
    MOORAGE_TLS_KEY: join(folder, "key.pem"),
  });
  for (let at = 0; at < 2 * WORKERS; at++) {
    const session = http2Connect(house.url, { ca: pair.cert });
    const stream = session.request({ ":path": "/iam/v2/groups", authorization: `Bearer ${house.platform}` });
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    await text(stream);
    assert.equal(headers[":status"], 200);
    assert.equal(session.alpnProtocol, "h2");
    session.close();
  }
});

test("an upload can continue in other processes, and be pulled from another", LIMIT, async (t) => {
  const house = await startHouse(t);
  const content = randomBytes(700_000);
  const started = await ask(`${house.url}/v2/acme/wander/blobs/uploads/`, "POST", house.registry, "");
  assert.equal(started.status, 202);
  const location = `${house.url}${String(started.headers["location"])}`;
  for (let at = 0; at < 7; at++) {
    const chunk = content.subarray(at * 100_000, (at + 1) * 100_000);
    const range = `${at * 100_000}-${at * 100_000 + chunk.length - 1}`;
    const sent = await ask(location, "PATCH", house.registry, chunk, {
      "content-range": range,
      "content-type": "application/octet-stream",
    });
    assert.deepEqual([sent.status, sent.headers["range"]], [202, `0-${at * 100_000 + chunk.length - 1}`], sent.text);
  }
  assert.equal((await ask(`${location}?digest=${digestOf(content)}`, "PUT", house.registry, "")).status, 201);
  for (let at = 0; at < WORKERS; at++) {
    const pulled = await ask(`${house.url}/v2/acme/wander/blobs/${digestOf(content)}`, "HEAD", house.registry);
    assert.deepEqual([pulled.status, pulled.headers["content-length"]], [200, "700000"]);
  }
});

test("two processes never write to one upload concurrently", LIMIT, async (t) => {
  const house = await startHouse(t);
  const content = randomBytes(200_000);
  const started = await ask(`${house.url}/v2/acme/alone/blobs/uploads/`, "POST", house.registry, "");
  const location = `${house.url}${String(started.headers["location"])}`;
  // Held open: half of the bytes are sent, and no more.
  const slow = request(location, {
    method: "PATCH",
    agent: false,
    headers: {
      authorization: `Bearer ${house.registry}`,
      "content-length": content.length,
      "content-type": "application/octet-stream",
    },
  });
  const answered = once(slow, "response");
  slow.write(content.subarray(0, 100_000));
  await eventually(() => isUploading(house));
  const others = await Promise.all(
    Array.from({ length: 2 * WORKERS }, () =>
      ask(location, "PATCH", house.registry, Buffer.from("intruder"), { "content-type": "application/octet-stream" }),
    ),
  );
  for (const other of others) assert.ok(other.status >= 400 && other.status < 500, `${other.status} ${other.text}`);
  slow.end(content.subarray(100_000));
  const [response] = (await answered) as [{ statusCode: number }];
  assert.equal(response.statusCode, 202);
  const finished = await ask(`${location}?digest=${digestOf(content)}`, "PUT", house.registry, "");
  assert.equal(finished.status, 201, finished.text);
});

test(
  "concurrent writes by all processes succeed, none answers that the database is busy, and the totals are right",
  LIMIT,
  async (t) => {
    const house = await startHouse(t);
    const groups = JSON.parse((await ask(`${house.url}/iam/v2/groups?name=acme`, "GET", house.platform)).text) as {
      groups: { uid: string }[];
    };
    const organization = groups.groups[0]?.uid ?? "";
    let longestMs = 0;
    const writers = Array.from({ length: 12 }, async (_, writer) => {
      for (let at = 0; at < 25; at++) {
        const startedMs = performance.now();
        const { status, text: content } = await ask(
          `${house.url}/registry/v2/repos/${organization}`,
          "POST",
          house.platform,
          JSON.stringify({ name: `r${writer}-${at}` }),
          { "content-type": "application/json" },
        );
        longestMs = Math.max(longestMs, performance.now() - startedMs);
        assert.equal(status, 200, content);
      }
    });
    await Promise.all(writers);
    t.diagnostic(`300 writes by 12 clients; the longest took ${Math.round(longestMs)} ms`);
    const list = JSON.parse(
      (await ask(`${house.url}/registry/v2/repos?uidp.descendantsOf=${organization}&pageSize=1`, "GET", house.platform))
        .text,
    ) as { totalCount: string };
    assert.equal(Number(list.totalCount), 300);
    assert.equal(house.lines.filter(({ level }) => level >= 50).length, 0);
  },
);

test("a process that dies is replaced, and the others keep serving", LIMIT, async (t) => {
  const house = await startHouse(t);
  const victim = listening(house)[0];
  process.kill(victim?.pid ?? 0, "SIGKILL");
  await eventually(() => listening(house).length > WORKERS);
  const successor = listening(house).at(-1);
  assert.equal(successor?.worker, victim?.worker);
  assert.notEqual(successor?.pid, victim?.pid);
  for (let at = 0; at < 2 * WORKERS; at++)
    assert.equal((await ask(`${house.url}/iam/v2/groups`, "GET", house.platform)).status, 200);
  for (const { pid } of listening(house).slice(1)) process.kill(pid, "SIGKILL");
  await eventually(() => listening(house).length > 2 * WORKERS);
  assert.equal(
    (await ask(`${house.url}/iam/v2/groups`, "GET", house.platform)).status,
    200,
    "the port is the same after all have died",
  );
  assert.equal(await house.stop(), 0);
});

test("when processes die again and again, the server ends with an error", LIMIT, async (t) => {
  const house = await startHouse(t, { MOORAGE_WORKERS: "2" });
  let ended = false;
  void house.exited.then(() => {
    ended = true;
  });
  const killed = new Set<number>();
  while (!ended) {
    for (const { pid } of listening(house)) {
      if (killed.has(pid)) continue;
      killed.add(pid);
      process.kill(pid, "SIGKILL");
    }
    await wait(20);
  }
  assert.equal(await house.exited, 1);
  assert.match(house.errors.join("\n"), /workers end as soon as they are started/);
});

test("SIGTERM lets requests under way complete, and SIGKILL of the first process ends the others", LIMIT, async (t) => {
  const house = await startHouse(t);
  const content = randomBytes(300_000);
  const push = request(`${house.url}/v2/acme/last/blobs/uploads/?digest=${digestOf(content)}`, {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${house.registry}`, "content-length": content.length },
  });
  const answered = once(push, "response");
  push.write(content.subarray(0, 100_000));
  await eventually(() => isStoring(house, content));
  const ended = house.stop();
  await eventually(() => house.lines.filter(({ msg }) => msg === "closed").length === WORKERS - 1);
  push.end(content.subarray(100_000));
  const [response] = (await answered) as [{ statusCode: number }];
  assert.equal(response.statusCode, 201);
  assert.equal(await ended, 0);

  const again = await startProcess(t, house.env);
  const pids = listening(again).map(({ pid }) => pid);
  assert.equal(await again.stop("SIGKILL"), "SIGKILL");
  await eventually(() => !pids.some((pid) => existsSync(`/proc/${pid}/stat`) && isAlive(pid)));
  const third = await startProcess(t, house.env);
  assert.equal(await third.stop(), 0);
});

test("an invalid setting is reported in one line, whichever process finds it", LIMIT, async (t) => {
  const house = await startHouse(t);
  const other = temporaryFolder(t);
  const env = { MOORAGE_WORKERS: "2", MOORAGE_LOG_LEVEL: "silent" };
  await assert.rejects(
    startProcess(t, { ...env, MOORAGE_DATA_DIR: other, MOORAGE_PORT: new URL(house.url).port }),
    /MOORAGE_PORT: cannot listen/,
  );
  await assert.rejects(startProcess(t, { ...env, MOORAGE_DATA_DIR: house.dataDir }), /in use by another moorage/);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
