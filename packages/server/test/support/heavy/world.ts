import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadConfig, readBootstrap, signToken } from "../../../src/index.ts";
import { openStore } from "../../../../kernel/src/store/index.ts";
import { databaseEnv, dropDatabase, openForWriting } from "../database.ts";
import { UNLIMITED } from "../no-rate-limits.ts";
import type { HeavyAnswer, HeavySend, HeavyWorld } from "./input.ts";
import { watchMemory } from "./memory.ts";
import { inheritedEnv } from "../environment.ts";

const PROGRAM = fileURLToPath(new URL("./server.ts", import.meta.url));
const ANSWER_TIMEOUT_MS = 120_000;
const SHOWN_BYTES = 4_096;

/** Starts the server and makes the other organization. `onEnd`: called with what ends and removes all of it. */
export async function startHeavyWorld(
  onEnd: (end: () => Promise<void>) => void,
  env: Record<string, string> = {},
): Promise<HeavyWorld> {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-heavy-"));
  const settings = {
    ...UNLIMITED,
    MOORAGE_PORT: "0",
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_LOG_LEVEL: "warn",
    ...(await databaseEnv(dataDir)),
    ...env,
  };
  const child = fork(PROGRAM, { env: { ...inheritedEnv(), ...settings }, execArgv: [], silent: false });
  const exited = once(child, "exit");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onEnd(async () => {
    agent.destroy();
    child.kill("SIGKILL");
    await exited;
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  });
  const said = async (): Promise<unknown> => {
    const [message] = await Promise.race([
      once(child, "message"),
      exited.then(([code]) => Promise.reject(new Error(`the server ended with ${String(code)}`))),
    ]);
    return message;
  };
  const url = String(await said());
  const asked = async (message: "begin" | "measured"): Promise<number> => {
    const answered = said();
    child.send(message);
    return Number(await answered);
  };
  const pid = child.pid ?? 0;
  const config = loadConfig(settings);
  const { organization, identity } = readBootstrap(dataDir);
  const sign = async (audience: "platform" | "registry", of: string): Promise<string> =>
    (await signToken({ config, audience, ttlMs: 3_600_000, identity: of })).token;
  const platform = await sign("platform", identity.uid);
  const send = (method: string, path: string, what: HeavySend = {}, by?: Agent): Promise<HeavyAnswer> =>
    sent(new URL(path, url), method, what, by);
  const made = async (path: string, fields: object): Promise<string> => {
    const headers = { "content-type": "application/json" };
    const { status, text } = await send("POST", path, { token: platform, headers, body: JSON.stringify(fields) });
    if (status !== 200) throw new Error(`POST ${path}: ${status} ${text}`);
    return (JSON.parse(text) as { uid: string }).uid;
  };
  const other = await made("/iam/v2/groups", { name: "other" });
  const theirs = await sign("platform", await made(`/iam/v2/identities/${other}`, { name: "pinging" }));
  const memory = watchMemory(pid);
  let changes = 0;
  return {
    url,
    pid,
    dataDir,
    organization: { uid: organization.uid, name: organization.name },
    platform,
    registry: await sign("registry", identity.uid),
    send,
    async ping() {
      const { status, text } = await send("GET", "/ping/v2/ping", { token: theirs }, agent);
      if (status !== 200) throw new Error(`a ping was answered ${status} ${text}`);
    },
    async change() {
      const { status, text } = await send(
        "PATCH",
        `/iam/v2/groups/${other}`,
        {
          token: platform,
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ description: String((changes += 1)) }),
        },
        agent,
      );
      if (status !== 200) throw new Error(`a change was answered ${status} ${text}`);
    },
    async write(work) {
      const store = await openStore(config);
      try {
        const { db, close } = openForWriting(dataDir, store);
        await work(db).finally(close);
      } finally {
        await store.close();
      }
    },
    async metric(name) {
      const found = await whole(new URL("/metrics", url));
      const lines = found.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
    },
    async begin() {
      await asked("begin");
      memory.begin();
    },
    measured: async () => ({ delayMs: await asked("measured"), peakMib: memory.peakMib() }),
  };
}

function sent(
  url: URL,
  method: string,
  { token, headers, body, began, whole = false }: HeavySend,
  agent?: Agent,
): Promise<HeavyAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HeavyAnswer>();
  const asking = request(
    url,
    {
      method,
      agent: agent ?? false,
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
        ...headers,
      },
    },
    (response) => {
      began?.(response.statusCode ?? 0);
      let bytes = 0;
      let text = "";
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        // What is kept whole is of ASCII letters alone.
        if (whole) text += chunk.toString("utf8");
        else if (text.length < SHOWN_BYTES) text += chunk.toString("utf8", 0, SHOWN_BYTES);
      });
      response.once("error", reject);
      response.once("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text }));
    },
  );
  asking.once("error", reject);
  asking.end(body);
  return promise;
}

async function whole(url: URL): Promise<string> {
  return await (await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) })).text();
}
