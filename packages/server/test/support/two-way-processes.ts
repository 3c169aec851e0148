// Two Moorages, each a process that can be killed, which push to each other through proxies that see their requests.
import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import type { TestContext } from "node:test";
import { loadConfig, readBootstrap, signToken } from "../../src/index.ts";
import { databaseEnv, dropDatabase, openTestStore } from "./database.ts";
import { digestOf, OCI_IMAGE, temporaryFolder } from "./installation.ts";
import { type ServerProcess, startProcess } from "./processes.ts";
import { SOON } from "./replication.ts";
import { type Item, replicate, type TwoWaySide } from "./two-ways.ts";
import { freePort } from "./unused-port.ts";
import { startFront } from "./upstream.ts";

/** One of the two. */
export interface ProcessSide extends TwoWaySide {
  /** Kills it with SIGKILL; resolves when it has ended. What it held is free then, as it would be after 15 seconds. */
  kill(): Promise<void>;
  /** Starts it again where it was. Resolves when it listens. */
  start(): Promise<void>;
  /** Pushes an image of one blob that follows from the seed, of so many bytes. Answers the digest of its manifest. */
  push(name: string, tag: string, seed: string, bytes: number): Promise<string>;
  moves(name: string, tag: string): Promise<{ time: string; digest: string; reason: string }[]>;
  /** The bytes of a blob. */
  blob(name: string, digest: string): Promise<Buffer>;
}

/** So many bytes, or a few more, that follow from the seed. */
export function contentOf(seed: string, bytes: number): string {
  return seed.repeat(Math.ceil(bytes / seed.length));
}

/** Starts both, with rules that have these fields. */
export async function startTwoWayProcesses(t: TestContext, fields: object): Promise<[ProcessSide, ProcessSide]> {
  const sides = [await startSide(t), await startSide(t)] as const;
  await replicate(sides[0], sides[1], fields);
  return [...sides];
}

async function startSide(t: TestContext): Promise<ProcessSide> {
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const database = await databaseEnv(dataDir);
  const env = { MOORAGE_DATA_DIR: dataDir, MOORAGE_PORT: String(port), MOORAGE_BASE_URL: url, ...SOON, ...database };
  let server: ServerProcess = await startProcess(t, env);
  const config = loadConfig(env);
  const tokenFor = async (audience: "platform" | "registry"): Promise<string> =>
    (await signToken({ config, audience, ttlMs: 3_600_000 })).token;
  const tokens = { platform: await tokenFor("platform"), registry: await tokenFor("registry") };
  const ask = async (method: string, path: string, body?: string | Buffer, type = "application/json") => {
    const token = path.startsWith("/v2/") ? tokens.registry : tokens.platform;
    const headers = { authorization: `Bearer ${token}`, "content-type": type };
    const signal = AbortSignal.timeout(60_000);
    return await fetch(url + path, { method, headers, signal, ...(body !== undefined && { body }) });
  };
  const api = async <T>(method: string, path: string, json?: unknown): Promise<T> => {
    const answer = await ask(method, path, json === undefined ? undefined : JSON.stringify(json));
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.status}`);
    return (await answer.json()) as T;
  };
  const put = async (name: string, content: string | Buffer, digest: string): Promise<object> => {
    const type = "application/octet-stream";
    const { status } = await ask("POST", `/v2/${name}/blobs/uploads/?digest=${digest}`, content, type);
    assert.equal(status, 201);
    return { mediaType: "text/plain", digest, size: content.length };
  };
  const side: ProcessSide = {
    url,
    bootstrap: readBootstrap(dataDir),
    front: await startFront(t, url),
    identity: "",
    rule: "",
    api,
    items: async () =>
      (await api<{ items: Item[] }>("GET", `/registry/v2/replications/${side.rule}/items?pageSize=200`)).items,
    async digestOf(name, tag) {
      const { status, headers } = await ask("HEAD", `/v2/${name}/manifests/${tag}`);
      return status === 200 ? (headers.get("docker-content-digest") ?? "") : undefined;
    },
    async kill() {
      await server.stop("SIGKILL");
      const { db, close } = await openTestStore(dataDir);
      await db.updateTable("replication_items").set({ hold_until: 0 }).where("holder", "!=", "").execute();
      await close();
    },
    async start() {
      server = await startProcess(t, env);
    },
    async push(name, tag, seed, bytes) {
      const content = contentOf(seed, bytes);
      const layers = [await put(name, content, digestOf(content))];
      const manifest = JSON.stringify({
        schemaVersion: 2,
        mediaType: OCI_IMAGE,
        config: await put(name, seed, digestOf(seed)),
        layers,
      });
      assert.equal((await ask("PUT", `/v2/${name}/manifests/${tag}`, manifest, OCI_IMAGE)).status, 201);
      return digestOf(manifest);
    },
    async moves(name, tag) {
      const { repos } = await api<{ repos: { uid: string }[] }>(
        "GET",
        `/registry/v2/repos?name=${name.slice(name.lastIndexOf("/") + 1)}`,
      );
      const path = `/registry/v2/repos/${repos[0]?.uid ?? ""}/tags/${tag}/moves`;
      return (await api<{ moves: { time: string; digest: string; reason: string }[] }>("GET", path)).moves;
    },
    async blob(name, digest) {
      const answer = await ask("GET", `/v2/${name}/blobs/${digest}`);
      assert.equal(answer.status, 200);
      return Buffer.from(await answer.arrayBuffer());
    },
  };
  return side;
}

/** What a destination took of a repo. */
export interface Taken {
  /** The bytes that came in parts. */
  partBytes: number;
  /** How often it took each blob and each manifest, by its path. */
  times: Map<string, number>;
}

/** Counts what the side takes of a repo from now on. `onAnswer` is called with each answer before it goes back. */
export function countTaken({ front }: ProcessSide, name: string, onAnswer: () => void): Taken {
  const taken: Taken = { partBytes: 0, times: new Map() };
  front.replace = ({ method = "", url = "", headers }: IncomingMessage, { statusCode = 0 }) => {
    onAnswer();
    if (!url.startsWith(`/v2/${name}/`) || statusCode >= 300) return false;
    if (method === "PATCH") taken.partBytes += Number(headers["content-length"] ?? 0);
    const { pathname, searchParams } = new URL(url, "http://registry");
    const what = searchParams.get("digest") ?? pathname;
    if (method === "PUT") taken.times.set(what, (taken.times.get(what) ?? 0) + 1);
    return false;
  };
  return taken;
}
