// Replications that are stopped, deleted, overtaken and killed in the middle of a blob.
import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { loadConfig, readBootstrap, signToken } from "../../../server/src/index.ts";
import { databaseEnv, dropDatabase } from "../../../server/test/support/database.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { digestOf, OCI_IMAGE, startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";
import { type ServerProcess, startProcess } from "../../../server/test/support/processes.ts";
import { type Replicas, startReplicas } from "../../../server/test/support/replication.ts";
import { type Front, startFront } from "../../../server/test/support/upstream.ts";

const PATH = "/registry/v2/replications";
// It is sent in three parts.
const LARGE = "moorage ".repeat(20 * 2 ** 17);

function manifestOf(config: string): { schemaVersion: number; mediaType: string; config: object; layers: object[] } {
  const layers = [{ mediaType: "text/plain", digest: digestOf(LARGE), size: LARGE.length }];
  const of = { mediaType: "text/plain", digest: digestOf(config), size: config.length };
  return { schemaVersion: 2, mediaType: OCI_IMAGE, config: of, layers };
}

async function pushLarge({ here }: Replicas, tag: string): Promise<string> {
  await here.pushBlob("acme/app", LARGE);
  await here.pushBlob("acme/app", tag);
  assert.equal((await here.pushManifest("acme/app", tag, manifestOf(tag))).status, 201);
  return digestOf(JSON.stringify(manifestOf(tag)));
}

/** Keeps the first request of that kind without an answer. */
function keepFirst(front: Front, isKept: (req: IncomingMessage) => boolean): { kept: boolean; ended: boolean } {
  const seen = { kept: false, ended: false };
  front.intercept = (req, res) => {
    if (seen.kept || !isKept(req)) return false;
    seen.kept = true;
    // What is not read hides that the connection has ended.
    req.resume();
    res.on("close", () => (seen.ended = true));
    return true;
  };
  return seen;
}

const isPart = (req: IncomingMessage): boolean => req.method === "PATCH";
const isLater = (req: IncomingMessage): boolean =>
  isPart(req) && !String(req.headers["content-range"]).startsWith("0-");

test("a stop ends a push inside a blob, a run goes on with it, and a delete ends it, too", async (t) => {
  const replicas = await startReplicas(t);
  const { here, front, rule, items, settled, digestThere } = replicas;
  const digest = await pushLarge(replicas, "1");
  const first = keepFirst(front, isLater);
  const { uid } = await rule();
  await eventually(() => first.kept);
  const stopped = await here.api<{ state: { running: string; pending: string } }>("POST", `${PATH}/${uid}:stop`, {});
  assert.deepEqual([stopped.state.running, stopped.state.pending], ["0", "1"]);
  await eventually(() => first.ended);
  assert.deepEqual(
    (await items(uid)).map(({ state, message }) => [state, message]),
    [["REPLICATION_ITEM_STATE_STOPPED", "stopped; a run goes on"]],
  );
  await here.api("POST", `${PATH}/${uid}:run`, {});
  await eventually(async () => (await digestThere("app", "1")) === digest);
  await settled(uid);
  const begun = front.seen.filter(({ method, path }) => method === "POST" && path.endsWith("/uploads/")).length;
  // The large one, which went on where it was, and the configuration.
  assert.equal(begun, 2);

  await here.api("DELETE", `${PATH}/${uid}`);
  const second = keepFirst(front, isPart);
  const other = await rule({ name: "other", destination: `${front.url}/acme/other` });
  await eventually(() => second.kept);
  await here.api("DELETE", `${PATH}/${other.uid}`);
  await eventually(() => second.ended);
});

for (const [what, change] of [
  [
    "a change of the rule",
    async ({ here }: Replicas, uid: string) => here.api("PATCH", `${PATH}/${uid}`, { description: "changed" }),
  ],
  [
    "a run after a stop",
    async ({ here }: Replicas, uid: string) => {
      await here.api("POST", `${PATH}/${uid}:stop`, {});
      await here.api("POST", `${PATH}/${uid}:run`, {});
    },
  ],
] as const)
  test(`${what} begins anew only once what was under way has ended`, async (t) => {
    const replicas = await startReplicas(t);
    const { front, rule, settled, digestThere } = replicas;
    const digest = await pushLarge(replicas, "1");
    const first = keepFirst(front, isLater);
    const keep = front.intercept;
    const meanwhile: string[] = [];
    front.intercept = (req, res) => {
      if (first.kept && !first.ended) meanwhile.push(`${req.method} ${req.url}`);
      return keep?.(req, res) ?? false;
    };
    const { uid } = await rule();
    await eventually(() => first.kept);
    await change(replicas, uid);
    await eventually(() => first.ended);
    await eventually(async () => (await digestThere("app", "1")) === digest);
    await settled(uid);
    assert.deepEqual(meanwhile, []);
  });

test("of a tag that moves while it is pushed, only its last digest follows", async (t) => {
  const { here, front, rule, settled, digestThere } = await startReplicas(t);
  await here.pushImage("acme/app", "1", "first");
  const seen = keepFirst(front, (req) => req.method === "PUT" && (req.url ?? "").includes("/blobs/uploads/"));
  const { uid } = await rule();
  await eventually(() => seen.kept);
  let last = "";
  for (const seed of ["second", "third", "fourth"]) last = (await here.pushImage("acme/app", "1", seed)).digest;
  await here.api("POST", `${PATH}/${uid}:stop`, {});
  await eventually(() => seen.ended);
  await here.api("POST", `${PATH}/${uid}:run`, {});
  await eventually(async () => (await digestThere("app", "1")) === last);
  await settled(uid);
  const puts = front.seen.filter(({ method, path }) => method === "PUT" && path.endsWith("/manifests/1"));
  assert.ok(puts.length <= 2, String(puts.length));
});

test("killed inside a blob, it ends as without, and sends no part that arrived again", async (t) => {
  const there = await startInstallation(t);
  const front = await startFront(t, there.url);
  const { env, start } = await startKilled(t);
  let server = await start();
  const tokens = await tokensOf(env);
  const ask = async (method: string, path: string, body?: object | string, type = "application/json") => {
    const isRegistry = path.startsWith("/v2/");
    const headers = {
      authorization: `Bearer ${isRegistry ? tokens.registry : tokens.platform}`,
      "content-type": type,
    };
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const signal = AbortSignal.timeout(60_000);
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers, signal, ...sent });
    assert.ok(answer.ok, `${path}: ${answer.status}`);
    return answer;
  };
  for (const blob of [LARGE, "1"])
    await ask("POST", `/v2/acme/app/blobs/uploads/?digest=${digestOf(blob)}`, blob, "application/octet-stream");
  await ask("PUT", "/v2/acme/app/manifests/1", manifestOf("1"), OCI_IMAGE);
  const first = keepFirst(front, isLater);
  const organization = readBootstrap(String(env["MOORAGE_DATA_DIR"])).organization.uid;
  const made = await ask("POST", `${PATH}/${organization}`, {
    name: "elsewhere",
    destination: `${front.url}/acme/copy`,
    username: "robot",
    password: there.platform,
    onPush: true,
  });
  const { uid } = (await made.json()) as { uid: string };
  await eventually(() => first.kept);
  await server.stop("SIGKILL");
  await eventually(() => first.ended);
  server = await start();
  await eventually(async () => {
    const state = ((await (await ask("GET", `${PATH}/${uid}`)).json()) as { state: Record<string, string> }).state;
    return state["lastSuccessTime"] !== undefined && state["pending"] === "0" && state["running"] === "0";
  });
  const pulled = await there.ask("HEAD", "/v2/acme/copy/app/manifests/1", { token: there.registry });
  assert.equal(pulled.headers.get("docker-content-digest"), digestOf(JSON.stringify(manifestOf("1"))));
  const blob = await there.ask("GET", `/v2/acme/copy/app/blobs/${digestOf(LARGE)}`, { token: there.registry });
  assert.equal(digestOf(blob.text), digestOf(LARGE));
  const parts = front.seen.filter(({ method }) => method === "PATCH").length;
  // Three, and the second once more, since nobody answered it.
  assert.equal(parts, 4);
  assert.equal(await server.stop(), 0);
});

async function startKilled(t: TestContext) {
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const env: Record<string, string> = {
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_BASE_URL: "http://moorage.test",
    MOORAGE_WORK_POLL: "50ms",
    ...LOOPBACK,
    ...(await databaseEnv(dataDir)),
  };
  return { env, start: (): Promise<ServerProcess> => startProcess(t, env) };
}

async function tokensOf(env: Record<string, string>): Promise<{ platform: string; registry: string }> {
  const config = loadConfig(env);
  const of = async (audience: "platform" | "registry"): Promise<string> =>
    (await signToken({ config, audience, ttlMs: 600_000 })).token;
  return { platform: await of("platform"), registry: await of("registry") };
}
