import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { loadConfig } from "../../src/index.ts";
import { ENGINE } from "../support/database.ts";
import {
  checker,
  checkGone,
  checkNeeded,
  checkRecords,
  checkStores,
  pushGarbage,
  storedBlobs,
} from "../support/race/check.ts";
import { api, ensureBlob, type OperationContext, nowMs, type Race } from "../support/race/client.ts";
import { poolOf } from "../support/race/content.ts";
import { diceOf } from "../support/dice.ts";
import { disturberOf } from "../support/race/disturb.ts";
import { newWorker, type Shared, work } from "../support/race/operations.ts";
import type { LogLine } from "../support/processes.ts";
import { type Replicas, startReplicas } from "../support/replicas.ts";
import { NO_S3, s3Url } from "../support/s3.ts";
import { sized } from "../support/extent.ts";

// Clients push, mount, tag, sign, pull and delete, collections run, and processes are killed at random: afterwards
// everything needed is stored, byte for byte, and after its time nothing else. The clients' operations follow from the
// seed; their interleaving does not. For a longer run:
//   npm run race -- --seconds 600 --seed 42 --store s3
const SECONDS = Number(process.env["MOORAGE_TEST_RACE_SECONDS"] ?? sized(8, 30));
const SEED = Number(process.env["MOORAGE_TEST_RACE_SEED"] ?? randomInt(1_000_000));
const WORKERS = 7;
const ROUND_SECONDS = 25;
const GRACE_MS = 3_000;
const UPLOAD_TTL_MS = 3_000;
const RETENTION_MS = 2_000;
const MOST_ERRORS_SHOWN = 5;
const LIMIT = { timeout: SECONDS * 3_000 + 240_000 };
const SETTINGS = {
  MOORAGE_GC_GRACE: `${GRACE_MS / 1_000}s`,
  MOORAGE_GC_INTERVAL: "1s",
  MOORAGE_UPLOAD_TTL: `${UPLOAD_TTL_MS / 1_000}s`,
  MOORAGE_MIRROR_WORKERS: "0",
};

test(
  "one server's processes, killed at random during concurrent pushes and garbage collections, lose nothing that is needed and retain nothing else",
  LIMIT,
  async (t) => {
    await race(t, await startReplicas(t, 1, { ...SETTINGS, MOORAGE_WORKERS: "2" }));
  },
);

test(
  "two replicas on PostgreSQL and S3, killed likewise, lose nothing that is needed and retain nothing else",
  { ...LIMIT, skip: (ENGINE === "sqlite" && "replicas need PostgreSQL") || NO_S3 },
  async (t) => {
    await race(t, await startReplicas(t, 2, { ...SETTINGS, MOORAGE_BLOBS_URL: s3Url() }));
  },
);

async function race(t: TestContext, replicas: Replicas): Promise<void> {
  t.diagnostic(`seed ${SEED}: MOORAGE_TEST_RACE_SEED=${SEED} does the same again`);
  const { organization } = replicas.bootstrap;
  const config = loadConfig(replicas.env);
  let over = false;
  const race: Race = {
    seed: SEED,
    organization: organization.name,
    platform: replicas.platform,
    registry: replicas.registry,
    graceMs: GRACE_MS,
    pool: poolOf(SEED),
    wrong: [],
    blobDeletions: [],
    counts: {},
    isOver: () => over,
  };
  const context = checker(race, replicas.url);
  t.after(() => context.close());
  const shared = await makeRepos(context);
  const workers = Array.from({ length: WORKERS }, (_, at) => newWorker(at, organization.name, shared));
  const paths = [...shared.map(({ path }) => path), ...workers.map(({ own }) => own.path)];
  const disturber = disturberOf(replicas, GRACE_MS);
  const allWrong = (): string[] => race.wrong.map((wrong) => `seed ${SEED}: ${wrong}`);
  const endMs = nowMs() + SECONDS * 1_000;
  let orphans = { blobs: 0, bytes: 0 };
  let [trouble, checked, gone, rounds] = [0, 0, 0, 0];
  for (; rounds === 0 || nowMs() < endMs; rounds++) {
    over = false;
    const roundMs = Math.min(nowMs() + ROUND_SECONDS * 1_000, endMs);
    const isOver = (): boolean => nowMs() >= roundMs || race.wrong.length > 0;
    const working = Promise.all(workers.map((worker) => work(race, worker, paths, replicas.url)));
    // A client's failure is reported at the end.
    working.catch(() => {});
    try {
      await disturber.disturb(diceOf(SEED, 997, rounds), isOver);
    } finally {
      over = true;
    }
    for (const each of await working) trouble += each.trouble;
    checked += await checkNeeded(context, workers);
    assert.deepEqual(allWrong(), [], "while it ran");

    // From here on no process is killed, and content without references is removed.
    const garbage = await pushGarbage(context, shared[0]?.path ?? "", rounds);
    const before = await storedBlobs(config);
    assert.ok(garbage.every((digest) => before.has(digest)));
    await wait(Math.max(GRACE_MS, UPLOAD_TTL_MS + GRACE_MS, RETENTION_MS) + 500);
    for (let at = 0; at < 2; at++) await disturber.collect();
    const after = await storedBlobs(config);
    assert.deepEqual(
      garbage.filter((digest) => after.has(digest)),
      [],
      `seed ${SEED}: what nobody needs has left the blob store`,
    );
    const left = await checkGone(context, workers);
    gone += left.manifests;
    checked += await checkNeeded(context, workers);
    await checkStores(context, config);
    orphans = await checkRecords(context, workers, config);
    assert.deepEqual(allWrong(), [], "once what nobody needs is gone");
    assert.deepEqual(errorsOf(replicas), [], "the log has no errors");
    assert.ok(left.blobs > 0, `seed ${SEED}: some blobs of the pool are needed by nobody somewhere`);
  }
  const { done } = disturber;
  t.diagnostic(JSON.stringify(done));
  t.diagnostic(JSON.stringify(race.counts));
  t.diagnostic(
    `seed ${SEED}: ${rounds} rounds, ${checked} manifests checked, ${gone} found gone, ${trouble} tries in vain`,
  );
  t.diagnostic(`crashes left ${orphans.blobs} blobs of ${orphans.bytes} bytes to the cleaning of uploads`);
  assert.ok(done.serverKills + done.workerKills > 0 && done.collections > 0 && gone > 0, "there was a race");
}

/**
 * The errors in the logs since the last call. Drops the lines it has read, but no listeners, since a race may last for
 * hours.
 */
function errorsOf({ all, servers }: Replicas): LogLine[] {
  const errors = all
    .flatMap(({ lines }) => lines)
    .filter(({ level, status, msg }) => level >= 50 && status !== 503 && msg !== "worker ended");
  for (const { lines } of all) lines.splice(0, lines.length, ...lines.filter(({ msg }) => msg === "listening"));
  all.splice(0, all.length, ...servers);
  return errors.slice(0, MOST_ERRORS_SHOWN);
}

/** Repos in two groups; one of them retains what its tags pointed to for a short time. */
async function makeRepos(context: OperationContext): Promise<Shared[]> {
  const { race } = context;
  const shared: Shared[] = [
    { path: `${race.organization}/apps/web`, history: "ever" },
    { path: `${race.organization}/base/os`, history: "ever" },
    { path: `${race.organization}/base/tools`, history: "short" },
  ];
  for (const { path, history } of shared) {
    await ensureBlob({ ...context, paths: shared.map((each) => each.path) }, path, context.dice.pick(race.pool.blobs));
    const { repos } = await api<{ repos: { uid: string }[] }>(
      context,
      "GET",
      `/registry/v2/repos?name=${path.slice(path.lastIndexOf("/") + 1)}`,
    );
    if (history === "ever") continue;
    await api(context, "PATCH", `/registry/v2/repos/${repos[0]?.uid}?updateMask=tagPolicy`, {
      tagPolicy: { historyRetention: `${RETENTION_MS / 1_000}s` },
    });
  }
  return shared;
}
