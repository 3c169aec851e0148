// The upgrade that docs/upgrading.md describes, with the programs of two clones:
//
//   node .ci/upgrade/main.ts OLD NEW WORK
//
// With MOORAGE_DATABASE_URL and MOORAGE_BLOBS_URL two replicas, otherwise a data folder.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { type Client, openClient } from "../../packages/server/test/support/api-client.ts";
import {
  type Acknowledged,
  createRepos,
  digestOf,
  type LoadOptions,
  newAcknowledged,
  pushAndPull,
} from "../../packages/server/test/support/client-load.ts";
import { freePort } from "../../packages/server/test/support/unused-port.ts";
import { startBalancer } from "./balancer.ts";
import { programOf, type Server } from "./program.ts";

const [oldClone = "", newClone = "", work = ""] = process.argv.slice(2);
const [older, newer] = [programOf(oldClone, work), programOf(newClone, work)];
const isReplicated = (process.env["MOORAGE_DATABASE_URL"] ?? "") !== "";
/** What the clients do in each part: pushes with their pulls, and repos. */
const STEPS = 8;
const EVERY_MS = 50;

const balancer = await startBalancer(await freePort());
const common = {
  MOORAGE_BASE_URL: balancer.url,
  MOORAGE_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
  MOORAGE_RATE_LIMIT_IDENTITY: "0",
  MOORAGE_RATE_LIMIT_ADDRESS: "0",
  MOORAGE_DRAIN_DELAY: "1s",
  MOORAGE_LOG_LEVEL: "info",
};
const folder = (name: string): string => join(work, name);
const envOf = (name: string): Record<string, string> => ({ ...common, MOORAGE_DATA_DIR: folder(name) });
const say = (text: string): void => console.log(`ok - ${text}`);
const client: Client = openClient(balancer.url);

async function start(program: typeof older, name: string, env = envOf(name)): Promise<Server> {
  const server = await program.serve(env, await freePort());
  balancer.servers.add(server.port);
  return server;
}

async function stop(server: Server): Promise<void> {
  // 1: something was cut, such as a job of an old process, whose writes are refused after the migration.
  const code = await server.stop();
  assert.ok(code === 0 || code === 1, `the exit code of a server is ${code}:\n${server.log().slice(-2_000)}`);
  balancer.servers.delete(server.port);
}

/** Clients that push, pull and create until `isOver`; what was acknowledged is added to `done`. */
async function load(
  prefix: string,
  options: Omit<LoadOptions, "isOver">,
  done: Acknowledged,
  isOver: () => boolean,
): Promise<Acknowledged> {
  const all = { ...options, isOver };
  await Promise.all([
    ...[0, 1, 2].map((at) => pushAndPull(`${prefix}-${at}`, all, done)),
    createRepos(`${prefix}-made`, all, done),
  ]);
  assert.deepEqual(done.wrong, []);
  return done;
}

/** Whether all that was acknowledged is there. */
async function check(done: Acknowledged, { platform, registry }: Omit<LoadOptions, "isOver">): Promise<void> {
  for (const [tag, moves] of done.moves) {
    const at = tag.lastIndexOf(":");
    const pulled = await client.ask("GET", `/v2/${tag.slice(0, at)}/manifests/${tag.slice(at + 1)}`, {
      token: registry,
    });
    assert.equal(digestOf(pulled.body), moves.at(-1), tag);
  }
  for (const [digest, { image, size }] of done.blobs) {
    const blob = await client.ask("GET", `/v2/${image}/blobs/${digest}`, { token: registry });
    assert.deepEqual([digestOf(blob.body), blob.body.length], [digest, size], image);
  }
  for (const repo of done.repos) {
    const found = await client.ask("GET", `/registry/v2/repos?name=${repo}`, { token: platform });
    assert.ok(found.body.toString().includes(`"${repo}"`), repo);
  }
}

function fsck(program: typeof older, env: Record<string, string>): void {
  const { status, output } = program.run(env, "fsck");
  assert.equal(status, 0, output);
}

// What an installation of 0.1.0 has.
let servers = [await start(older, "first")];
if (isReplicated) servers.push(await start(older, "second"));
const { organization } = JSON.parse(readFileSync(join(folder("first"), "bootstrap.json"), "utf8")) as {
  organization: { uid: string; name: string };
};
const token = (...args: string[]): string => {
  const { status, output } = older.run(envOf("first"), "token", ...args);
  assert.equal(status, 0, output);
  return output;
};
const who = { client, organization, platform: token(), registry: token("--audience", "registry") };
const first = newAcknowledged();
const before = await load("before", who, first, () => first.steps >= STEPS);
await check(before, who);
say(`0.1.0 has ${before.blobs.size} blobs, ${before.moves.size} images and ${before.repos.size} further repos`);

// 1. The backup.
const backedUp = older.run(envOf("first"), isReplicated ? "export" : "backup", folder("backup"));
assert.equal(backedUp.status, 0, backedUp.output);
say(isReplicated ? "moorage export beside the running replicas" : "moorage backup beside the running server");

// 2. What the new version would do.
const asked = newer.run(envOf("first"), "migrate", "--check");
assert.equal(asked.status, 1, asked.output);
assert.match(asked.output, /^database: version \d+; this moorage: version \d+$/m);
console.log(asked.output);

// 3. The upgrade, while clients go on.
let isOver = false;
const done = newAcknowledged();
const during = load("during", who, done, () => isOver);
/** Resolves when the clients have done so many steps more; throws when one of them has given up. */
const further = async (steps: number): Promise<void> => {
  const until = done.steps + steps;
  const counted = async (): Promise<void> => {
    while (done.steps < until) await wait(EVERY_MS);
  };
  await Promise.race([counted(), during]);
};
await further(STEPS);
if (isReplicated) {
  const old = servers;
  servers = [await start(newer, "third")];
  for (const server of old) await stop(server);
  servers.push(await start(newer, "fourth"));
} else {
  for (const server of servers) await stop(server);
  servers = [await start(newer, "first")];
}
await further(STEPS);
isOver = true;
const acknowledged = await during;
const { connections, unavailable } = client.trouble;
say(
  `upgraded under load: ${acknowledged.steps} rounds, ${connections + unavailable} attempts were repeated, none failed`,
);

// 4. Everything that was acknowledged is there.
await check(before, who);
await check(acknowledged, who);
const current = isReplicated ? "third" : "first";
assert.equal(newer.run(envOf(current), "migrate", "--check").status, 0);
for (const server of servers) await stop(server);
fsck(newer, envOf(current));
say("what was acknowledged is there, and fsck finds nothing wrong");

// 5. The way back.
const refused = older.run({ ...envOf(current), MOORAGE_PORT: "0" }, "serve");
assert.notEqual(refused.status, 0);
assert.match(refused.output, /newer/);
say("0.1.0 does not start on what the new version has written");
const back = { ...envOf("back"), ...(isReplicated ? await emptyPlace() : {}) };
mkdirSync(folder("back"));
const restored = isReplicated
  ? older.run(back, "import", folder("backup"))
  : older.run(back, "restore", folder("backup"), "--data-dir", folder("back"));
assert.equal(restored.status, 0, restored.output);
const again = await start(older, "back", back);
await check(before, who);
await stop(again);
fsck(older, back);
say("0.1.0 serves what the backup has");

client.close();
balancer.close();
console.log("upgrade: passed");

/** A database and a place for blobs beside those of the environment, with nothing in them. */
async function emptyPlace(): Promise<Record<string, string>> {
  const database = new URL(process.env["MOORAGE_DATABASE_URL"] ?? "");
  const admin = new pg.Client({ connectionString: database.href, statement_timeout: 60_000 });
  await admin.connect();
  await admin.query("create database back").finally(() => admin.end());
  database.pathname = "/back";
  const blobs = new URL(process.env["MOORAGE_BLOBS_URL"] ?? "");
  blobs.pathname = `${blobs.pathname.replace(/\/$/, "")}/back`;
  return { MOORAGE_DATABASE_URL: database.href, MOORAGE_BLOBS_URL: blobs.href };
}
