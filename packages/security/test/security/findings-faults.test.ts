import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import {
  type FeedInstallation,
  OSV_FEED,
  openFeedInstallation,
  someRecords,
} from "../../../server/test/support/feed-installation.ts";
import { addImage, before, findings, matchAsServer, npm } from "../../../server/test/support/matching.ts";

const TIMEOUT = { timeout: 300_000 };
const PACKAGES = Array.from({ length: 700 }, (_, n) => npm(`package-${n % 7}`, `1.0.${n}`));

/** Records of which each affects a seventh of the packages, up to a version. */
function recordsUpTo(version: number): object[] {
  return someRecords(40).map((record, n) => ({ ...record, ...before(`package-${n % 7}`, `1.0.${version + n}`) }));
}

/** Packages and records, matched; then more packages, and changes of all records, which are not. */
async function prepared(t: TestContext): Promise<FeedInstallation> {
  const installation = await openFeedInstallation(t);
  const { db, admin, importOsv, env } = installation;
  await admin((feeds) => feeds.add(OSV_FEED));
  await addImage(db, "sha256:a", PACKAGES.slice(0, 350));
  await importOsv("osv", recordsUpTo(300));
  await matchAsServer(env, () => {});
  await addImage(db, "sha256:b", PACKAGES.slice(350));
  await importOsv("osv", recordsUpTo(500));
  return installation;
}

/** What matching leaves, but the times and the change numbers. */
async function stateOf({ db }: FeedInstallation): Promise<unknown> {
  const rows = await findings(db);
  return {
    rows: rows.map(({ name, version, record, state, fixed, closed, reason_closed: reason }) =>
      [name, version, record, state, fixed, closed === null, reason].join(" "),
    ),
    keys: await db.selectFrom("package_keys").selectAll().orderBy("key").orderBy("package").execute(),
    waiting: await db.selectFrom("packages").select("name").where("matched", "is", null).orderBy("id").execute(),
  };
}

/** Starts matching, and kills it with SIGKILL after so many steps. Answers false when it was over before. */
async function killedMatching(t: TestContext, { env }: FeedInstallation, afterSteps: number): Promise<boolean> {
  const program = path.join(import.meta.dirname, "../../../server/test/support/matching-child.ts");
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const exited = once(child, "exit");
  let steps = 0;
  let isOver = false;
  for await (const line of createInterface({ input: child.stdout })) {
    isOver = line === "ended";
    steps += 1;
    if (steps === afterSteps) child.kill("SIGKILL");
  }
  await exited;
  return !isOver;
}

test("matching that is killed at any step ends as if it had not been", TIMEOUT, async (t) => {
  const [killed, untouched] = [await prepared(t), await prepared(t)];
  assert.deepEqual(await stateOf(killed), await stateOf(untouched));
  await matchAsServer(untouched.env, () => {});
  const kills = [];
  for (const afterSteps of [1, 2, 3, 5]) kills.push(await killedMatching(t, killed, afterSteps));
  assert.ok(kills.filter(Boolean).length >= 2, "matching was over before it was killed");
  await matchAsServer(killed.env, () => {});
  assert.deepEqual(await stateOf(killed), await stateOf(untouched));
});

test("two processes that match together do nothing twice", TIMEOUT, async (t) => {
  const [together, alone] = [await prepared(t), await prepared(t)];
  let steps = 0;
  await Promise.all([1, 2].map(() => matchAsServer(together.env, () => void (steps += 1))));
  assert.ok(steps > 4);
  await matchAsServer(alone.env, () => {});
  assert.deepEqual(await stateOf(together), await stateOf(alone));
});
