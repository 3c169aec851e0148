import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { checkInstallation, type Config, loadConfig, readBootstrap, signToken, startServer } from "../../src/index.ts";
import { type Client, openClient } from "../support/api-client.ts";
import { databaseEnv, dropDatabase, ENGINE } from "../support/database.ts";
import {
  type Acknowledged,
  createRepos,
  digestOf,
  type LoadOptions,
  newAcknowledged,
  pushAndPull,
  SHARED,
} from "../support/client-load.ts";
import { type LogLine, startProcess } from "../support/processes.ts";
import { type Replicas, startReplicas } from "../support/replicas.ts";
import { NO_S3, s3Url } from "../support/s3.ts";
import { sized } from "../support/extent.ts";
import { eventually } from "../support/eventually.ts";

// `npm run test:nightly` sets 60.
const SECONDS = Number(process.env["MOORAGE_TEST_REPLICA_SECONDS"] ?? sized(8, 30));
const REPLICAS = 3;
const CREATORS = 3;
const PUSHERS = 3;
const MOST_RECORDS = 1000;
const NO_POSTGRES = ENGINE === "postgres" ? false : "replicas need PostgreSQL: set MOORAGE_TEST_POSTGRES_URL";
const LIMIT = { timeout: SECONDS * 1000 + 180_000 };

/** The installation under load, and how it is disturbed. */
interface House extends Pick<Replicas, "url" | "bootstrap" | "platform" | "registry"> {
  kill(): Promise<void>;
  log(): LogLine[];
}

function ofReplicas(replicas: Replicas): House {
  return {
    ...replicas,
    kill: () => replicas.replace(Math.floor(Math.random() * REPLICAS)),
    log: () => replicas.all.flatMap(({ lines }) => lines),
  };
}

test(
  "five replicas that start concurrently on an empty database create one installation",
  { ...LIMIT, skip: NO_POSTGRES },
  async (t) => {
    const house = await startReplicas(t, 5);
    const client = openClient(house.url);
    t.after(() => client.close());
    for (const { lines } of house.servers)
      assert.deepEqual(
        lines.filter(({ level }) => level >= 40),
        [],
      );
    const made = await Promise.all(
      house.servers.map(async (server) => {
        const own = openClient(`http://127.0.0.1:${server.port}`);
        const groups = JSON.parse(
          (await own.ask("GET", "/iam/v2/groups?order_by=name", { token: house.platform })).body.toString(),
        ) as { groups: { uid: string }[]; totalCount: string };
        const { keys } = JSON.parse((await own.ask("GET", "/.well-known/jwks.json")).body.toString()) as {
          keys: { kid: string }[];
        };
        const roles = JSON.parse(
          (await own.ask("GET", "/iam/v2/roles?page_size=200", { token: house.platform })).body.toString(),
        ) as { roles: { name: string }[] };
        own.close();
        return {
          groups: groups.groups.map(({ uid }) => uid),
          totalCount: groups.totalCount,
          kids: keys.map(({ kid }) => kid),
          roles: roles.roles.map(({ name }) => name).sort(),
        };
      }),
    );
    for (const each of made) assert.deepEqual(each, made[0]);
    assert.equal(made[0]?.groups.length, 2);
    assert.equal(made[0]?.kids.length, 1);
    assert.equal(new Set(made[0]?.roles).size, made[0]?.roles.length, "no role twice");
  },
);

test(
  "replicas with different clocks: histories grow, tokens are valid, a deleted identity is refused immediately, and a new key verifies before it signs",
  { ...LIMIT, skip: NO_POSTGRES },
  async (t) => {
    const folders = [mkdtempSync(join(tmpdir(), "moorage-skew-")), mkdtempSync(join(tmpdir(), "moorage-skew-"))];
    const [first = "", second = ""] = folders;
    t.after(async () => {
      await dropDatabase(first);
      for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    });
    const database = await databaseEnv(first);
    let aheadMs = 20_000;
    const start = async (dataDir: string, nowMs: () => number, more: Record<string, string> = {}) => {
      const config = loadConfig({
        MOORAGE_PORT: "0",
        MOORAGE_LOG_LEVEL: "silent",
        MOORAGE_DATA_DIR: dataDir,
        MOORAGE_BASE_URL: "http://moorage.test",
        MOORAGE_SECRET_KEY: Buffer.alloc(32, 9).toString("base64"),
        ...database,
        ...more,
      });
      const server = await startServer(config, { clock: { nowMs } });
      t.after(() => server.close());
      const client = openClient(`http://127.0.0.1:${server.config.port}`);
      t.after(() => client.close());
      return { config, server, client };
    };
    const slow = await start(first, () => Date.now());
    const fast = await start(second, () => Date.now() + aheadMs);
    const { organization } = readBootstrap(first);
    assert.equal(readBootstrap(second).organization.uid, organization.uid);
    const { token } = await signToken({ config: slow.config, audience: "platform", ttlMs: 3_600_000 });
    const send = { token, headers: { "content-type": "application/json" } };
    const post = async (client: Client, path: string, body: object): Promise<{ uid: string }> => {
      const reply = await client.once("POST", path, { ...send, body: JSON.stringify(body) });
      assert.equal(reply.status, 200, reply.body.toString());
      return JSON.parse(reply.body.toString()) as { uid: string };
    };
    const repo = await post(slow.client, `/registry/v2/repos/${organization.uid}`, { name: "skewed" });
    const digests = Array.from({ length: 20 }, (_, at) => `sha256:${at.toString(16).padStart(64, "0")}`);
    // Alternating: every second push comes from a clock twenty seconds behind the last record.
    for (const [at, digest] of digests.entries())
      await post(at % 2 === 0 ? fast.client : slow.client, `/registry/v2/tags/${repo.uid}`, { name: "latest", digest });
    const { token: registry } = await signToken({ config: slow.config, audience: "registry", ttlMs: 3_600_000 });
    for (const { client } of [slow, fast]) {
      const { history } = JSON.parse(
        (
          await client.once("GET", `/v2/${organization.name}/skewed/_service/history/latest`, { token: registry })
        ).body.toString(),
      ) as { history: { digest: string; updateTimestamp: string }[] };
      assert.deepEqual(
        history.map(({ digest }) => digest),
        digests,
      );
      assert.ok(
        history.every(
          ({ updateTimestamp }, at) => at === 0 || updateTimestamp > (history[at - 1]?.updateTimestamp ?? ""),
        ),
      );
    }

    const identity = await post(slow.client, `/iam/v2/identities/${organization.uid}`, { name: "leaving" });
    const theirs = await signToken({
      config: slow.config,
      audience: "platform",
      ttlMs: 600_000,
      identity: identity.uid,
    });
    const listed = (client: Client): Promise<number> =>
      client.once("GET", "/iam/v2/groups", { token: theirs.token }).then(({ status }) => status);
    assert.deepEqual([await listed(slow.client), await listed(fast.client)], [200, 200]);
    assert.equal((await slow.client.once("DELETE", `/iam/v2/identities/${identity.uid}`, { token })).status, 200);
    assert.deepEqual([await listed(fast.client), await listed(slow.client)], [401, 401]);

    const kidsOf = async (client: Client): Promise<string[]> =>
      (
        JSON.parse((await client.once("GET", "/.well-known/jwks.json")).body.toString()) as { keys: { kid: string }[] }
      ).keys
        .map(({ kid }) => kid)
        .sort();
    const kidOf = async (client: Client): Promise<string> => {
      const basic = `Basic ${Buffer.from(`load:${token}`).toString("base64")}`;
      const reply = JSON.parse(
        (
          await client.once("GET", `/token?scope=repository:${organization.name}/skewed:pull`, { token: basic })
        ).body.toString(),
      ) as { token: string };
      return (JSON.parse(Buffer.from(reply.token.split(".")[0] ?? "", "base64url").toString()) as { kid: string }).kid;
    };
    const [old = ""] = await kidsOf(slow.client);
    await fast.server.close();
    aheadMs = 60_000;
    const rotating = await start(second, () => Date.now() + aheadMs, { MOORAGE_SIGNING_KEY_AGE: "30s" });
    const both = await kidsOf(rotating.client);
    assert.equal(both.length, 2);
    assert.deepEqual(
      [await kidOf(rotating.client), await kidOf(slow.client)],
      [old, old],
      "the new key is published and signs nothing yet",
    );
    aheadMs += 121_000;
    assert.notEqual(await kidOf(rotating.client), old);
  },
);

test(
  "replicas on PostgreSQL and S3, killed one by one under load, lose nothing",
  { ...LIMIT, skip: NO_POSTGRES || NO_S3 },
  async (t) => {
    // Keys expire so early that each start creates a new one: the others must accept its signatures immediately.
    const house = await startReplicas(t, REPLICAS, { MOORAGE_BLOBS_URL: s3Url(), MOORAGE_SIGNING_KEY_AGE: "5s" });
    const { client, done } = await underLoad(t, ofReplicas(house), true);
    await checkRegistry(client, ofReplicas(house), done);
    await checkStores(loadConfig(house.env));
  },
);

test(
  "replicas on PostgreSQL, killed one by one under load, lose nothing that the API acknowledged",
  { ...LIMIT, skip: NO_POSTGRES || (NO_S3 === false && "the test with S3 does more") },
  async (t) => {
    const house = await startReplicas(t, REPLICAS, { MOORAGE_SIGNING_KEY_AGE: "5s" });
    await underLoad(t, ofReplicas(house), false);
  },
);

test("the processes of one server lose nothing when they are killed one by one under load", LIMIT, async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-killed-"));
  t.after(async () => {
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  });
  const env = {
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_WORKERS: String(REPLICAS),
    MOORAGE_SIGNING_KEY_AGE: "5s",
    ...(await databaseEnv(dataDir)),
  };
  const server = await startProcess(t, env);
  const config = loadConfig(env);
  const tokenFor = async (audience: "platform" | "registry"): Promise<string> =>
    (await signToken({ config, audience, ttlMs: 3_600_000 })).token;
  const listening = (): LogLine[] => server.lines.filter(({ msg }) => msg === "listening");
  const house: House = {
    url: server.url,
    bootstrap: readBootstrap(dataDir),
    platform: await tokenFor("platform"),
    registry: await tokenFor("registry"),
    async kill() {
      const before = listening();
      const number = 1 + Math.floor(Math.random() * REPLICAS);
      // The last process with the number is the running one.
      const victim = before.findLast(({ worker }) => worker === number);
      process.kill(victim?.pid ?? 0, "SIGKILL");
      await eventually(() => listening().length !== before.length);
    },
    log: () => server.lines.filter(({ msg }) => msg !== "worker ended"),
  };
  const { client, done } = await underLoad(t, house, true);
  await checkRegistry(client, house, done);
  assert.equal(await server.stop(), 0);
  await checkStores(config);
});

/**
 * Kills and replaces replicas while clients work, and then compares the API's state with the answers that the clients
 * got.
 */
async function underLoad(
  t: TestContext,
  house: House,
  withBlobs: boolean,
): Promise<{ client: Client; done: Acknowledged }> {
  const client = openClient(house.url);
  t.after(() => client.close());
  const done = newAcknowledged();
  let over = false;
  const options: LoadOptions = {
    client,
    organization: house.bootstrap.organization,
    platform: house.platform,
    registry: house.registry,
    isOver: () => over,
  };
  const clients = Promise.all([
    ...Array.from({ length: CREATORS }, (_, at) => createRepos(`made${at}`, options, done)),
    ...(withBlobs ? Array.from({ length: PUSHERS }, (_, at) => pushAndPull(`image${at}`, options, done)) : []),
  ]);
  // A client's failure is reported at the end.
  clients.catch(() => {});
  const endMs = performance.now() + SECONDS * 1000;
  let kills = 0;
  try {
    while (performance.now() < endMs) {
      await wait(1_000 + Math.random() * 2_000);
      await house.kill();
      kills += 1;
    }
  } finally {
    over = true;
  }
  await clients;
  t.diagnostic(
    `${kills} kills, ${done.steps} rounds, ${done.repos.size} repos, ${done.blobs.size} blobs; ${client.trouble.connections} tries met no server, ${client.trouble.unavailable} one that could not`,
  );
  assert.deepEqual(done.wrong, []);
  assert.ok(kills > 0 && done.steps > 10 && client.trouble.connections > 0, "there was load, and it was disturbed");
  assert.deepEqual(
    house.log().filter(({ level, status }) => level >= 50 && status !== 503),
    [],
    "the log has no errors",
  );
  await checkRepos(client, house, done);
  return { client, done };
}

/** Asserts that database and blobs match, to the last byte. */
async function checkStores(config: Config): Promise<void> {
  const { findings } = await checkInstallation(config, { repair: false, deep: true }, { progress() {}, note() {} });
  assert.deepEqual(
    findings.filter(({ notice }) => !notice),
    [],
  );
}

interface RepoList {
  repos: { name: string; uid: string }[];
  totalCount: string;
  nextPageToken: string;
}

/** Asserts that every acknowledged repo exists once, and that the total is the number of rows. */
async function checkRepos(client: Client, { bootstrap, platform }: House, done: Acknowledged): Promise<void> {
  const names: string[] = [];
  let total = "";
  for (let page = ""; ;) {
    const query = `uidp.descendants_of=${bootstrap.organization.uid}&page_size=200${page === "" ? "" : `&page_token=${encodeURIComponent(page)}`}`;
    const reply = await client.ask("GET", `/registry/v2/repos?${query}`, { token: platform });
    assert.equal(reply.status, 200, reply.body.toString());
    const list = JSON.parse(reply.body.toString()) as RepoList;
    names.push(...list.repos.map(({ name }) => name));
    total = list.totalCount;
    page = list.nextPageToken;
    if (!page) break;
  }
  const expected = [
    ...done.repos,
    ...[...done.moves.keys()].map((tag) => tag.split(/[/:]/)[1] ?? ""),
    ...(done.moves.size > 0 ? [SHARED.split(":")[0] ?? ""] : []),
  ];
  assert.deepEqual(names.toSorted(), expected.toSorted());
  assert.equal(Number(total), names.length);
}

/** Asserts that tags, histories and blobs are the acknowledged ones. */
async function checkRegistry(client: Client, { bootstrap, registry }: House, done: Acknowledged): Promise<void> {
  const historyOf = async (image: string, tag: string): Promise<{ digest: string; updateTimestamp: string }[]> => {
    const history: { digest: string; updateTimestamp: string }[] = [];
    // An answer has 1000 records at most; the next one begins with the last of it.
    for (let query = ""; ;) {
      const reply = await client.ask("GET", `/v2/${image}/_service/history/${tag}${query}`, { token: registry });
      assert.equal(reply.status, 200, reply.body.toString());
      const { history: found } = JSON.parse(reply.body.toString()) as { history: typeof history };
      history.push(...found.slice(query === "" ? 0 : 1));
      if (found.length < MOST_RECORDS) break;
      query = `?start=${encodeURIComponent(history.at(-1)?.updateTimestamp ?? "")}`;
    }
    const times = history.map(({ updateTimestamp }) => Date.parse(updateTimestamp));
    assert.ok(
      times.every((time, at) => at === 0 || time > (times[at - 1] ?? 0)),
      "times strictly increase",
    );
    const manifest = await client.ask("GET", `/v2/${image}/manifests/${tag}`, { token: registry });
    assert.equal(digestOf(manifest.body), history.at(-1)?.digest, "the tag is the last of its history");
    return history;
  };
  for (const [name, moves] of done.moves) {
    const [image = "", tag = ""] = name.split(":");
    assert.deepEqual(
      (await historyOf(image, tag)).map(({ digest }) => digest),
      moves,
      "each move once, in order",
    );
  }
  const [everybody = "", tag = ""] = SHARED.split(":");
  const shared = await historyOf(`${bootstrap.organization.name}/${everybody}`, tag);
  assert.deepEqual(
    [...done.shared].filter((digest) => !shared.some((record) => record.digest === digest)),
    [],
    "every move is in the history",
  );
  for (const [digest, { image, size }] of done.blobs) {
    const blob = await client.ask("GET", `/v2/${image}/blobs/${digest}`, { token: registry });
    assert.deepEqual([blob.status, blob.body.length, digestOf(blob.body)], [200, size, digest]);
  }
}
