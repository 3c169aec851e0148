// The list of blocks at its bounds: the queue of a process, what upstreams may call things, and how long rows are kept.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { loadConfig } from "../../../server/src/index.ts";
import { openCommandWriter } from "../../../server/src/installation/stores.ts";
import { type BlockNote, type BlockRecorder, createBlockRecorder } from "../../src/libraries/blocks/recorder.ts";
import { blockRetention } from "../../src/libraries/blocks/retention.ts";
import type { Row } from "../../../kernel/src/store/index.ts";
import { databaseEnv, dropDatabase, openTestStore } from "../../../server/test/support/database.ts";

const DAY_MS = 86_400_000;
const NOW_MS = 1_000 * DAY_MS;
const GROUP = "a".repeat(40);
const note = (given: Partial<BlockNote> = {}): BlockNote => ({
  group: GROUP,
  ecosystem: 3,
  name: "left-pad",
  version: "1.3.0",
  mode: "enforce",
  verdict: { reason: "purl", detail: "pkg:npm/left-pad", opensMs: undefined },
  ...given,
});
const call = (nowMs: number, identity = "ann") => ({
  caller: { identity },
  requestId: "",
  nowMs,
  remoteAddress: "",
  userAgent: "",
});

/** An installation with a group, and a recorder that counts what it drops. */
async function open(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-blocks-"));
  const { store, db, close } = await openTestStore(dataDir);
  const config = loadConfig({ MOORAGE_DATA_DIR: dataDir, ...(await databaseEnv(dataDir)) });
  const writer = await openCommandWriter(store, config, assert.fail);
  t.after(async () => {
    await writer.close();
    await close();
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true });
  });
  const group = { name: "acme", description: "", kind: 0, verified: 0, status: 1, resource_limits: "{}" };
  await db
    .insertInto("groups")
    .values({ uid: GROUP, parent: "", ...group, create_time: 0, update_time: 0 })
    .execute();
  const counted = { noted: 0, dropped: 0, errors: 0 };
  const clock = { nowMs: () => NOW_MS };
  const recorder = (given: { writer?: typeof writer } = {}): BlockRecorder =>
    createBlockRecorder({
      writer,
      clock,
      log: { error: () => void (counted.errors += 1) },
      metrics: { noted: () => void (counted.noted += 1), dropped: (count) => void (counted.dropped += count) },
      ...given,
    });
  const listed = (): Promise<Row<"artifact_blocks">[]> =>
    store.reader.selectFrom("artifact_blocks").selectAll().orderBy("name").orderBy("version").execute();
  return { writer, db, reader: store.reader, clock, counted, recorder, listed };
}

test("requests that differ in their time alone are one row, with the first time and the last", async (t) => {
  const { recorder, listed, counted } = await open(t);
  const first = recorder();
  for (let at = 0; at < 1_000; at += 1) first.note(call(NOW_MS + at), note());
  first.note(call(NOW_MS), note({ mode: "preview" }));
  await first.close();
  const second = recorder();
  second.note(call(NOW_MS + 5_000), note());
  await second.close();
  const rows = (await listed()).map(({ mode, count, first_time, last_time }) =>
    [mode, count, first_time, last_time].map(Number),
  );
  assert.deepEqual(rows.toSorted(), [
    [1, 1, NOW_MS, NOW_MS],
    [2, 1_001, NOW_MS, NOW_MS + 5_000],
  ]);
  assert.deepEqual(counted, { noted: 1_002, dropped: 0, errors: 0 });
});

test("a full queue takes no further versions, and counts what is missing", async (t) => {
  const { recorder, listed, counted } = await open(t);
  const queue = recorder();
  for (let at = 0; at < 10_500; at += 1) queue.note(call(NOW_MS), note({ version: `1.0.${at}` }));
  await queue.close();
  const written = (await listed()).length;
  assert.ok(counted.dropped > 0 && written >= 10_000, `${written} written, ${counted.dropped} dropped`);
  assert.equal(written + counted.dropped, 10_500);
});

test("what the database does not take is dropped after three attempts, and what comes then is written", async (t) => {
  const { recorder, writer, listed, counted } = await open(t);
  let attempts = 0;
  const failing: typeof writer = {
    ...writer,
    write: (command, data, input) => {
      attempts += 1;
      return attempts <= 3 ? Promise.reject(new Error("no space")) : writer.write(command, data, input);
    },
  };
  const queue = recorder({ writer: failing });
  for (let at = 0; at < 200; at += 1) queue.note(call(NOW_MS), note({ version: `1.0.${at}` }));
  while (counted.dropped === 0) await new Promise((resolve) => setImmediate(resolve));
  queue.note(call(NOW_MS), note({ version: "2.0.0" }));
  await queue.close();
  assert.deepEqual(
    (await listed()).map(({ version }) => version),
    ["2.0.0"],
  );
  assert.deepEqual([counted.dropped, counted.errors], [200, 1]);
});

test("names of any length and any characters are written, and a group that is gone is passed over", async (t) => {
  const { recorder, listed, counted } = await open(t);
  const queue = recorder();
  for (const name of ["a\0b", "\ud800", "x".repeat(100_000), "\u{1f980}".repeat(5_000)])
    queue.note(call(NOW_MS), note({ name, version: name, verdict: { reason: "license", detail: name, opensMs: 5 } }));
  queue.note(call(NOW_MS), note({ group: "b".repeat(40) }));
  await queue.close();
  assert.equal((await listed()).length, 4);
  assert.equal(counted.dropped, 0);
});

test("rows go after the retention, and the oldest ones when an organization has too many", async (t) => {
  const { writer, reader, db, clock, listed } = await open(t);
  const row = (version: string, lastMs: number, organization = GROUP): Row<"artifact_blocks"> => ({
    uid: `${organization}/${version}`,
    parent: organization,
    organization,
    ecosystem: 3,
    name: "x",
    version,
    identity: "",
    reason: 1,
    detail: "",
    mode: 1,
    count: 1,
    first_time: 0,
    last_time: lastMs,
    open_time: null,
  });
  const other = "c".repeat(40);
  const old = Array.from({ length: 450 }, (_, at) => row(`old-${at}`, NOW_MS - 401 * DAY_MS));
  const young = Array.from({ length: 30 }, (_, at) => row(`young-${100 + at}`, NOW_MS - DAY_MS + at));
  await db
    .insertInto("artifact_blocks")
    .values([...old, ...young, row("one", NOW_MS, other), row("two", NOW_MS - 500 * DAY_MS, other)])
    .execute();
  const deps = { writer, reader, clock, retentionMs: 400 * DAY_MS, maxRows: 20 };
  assert.deepEqual(await blockRetention(deps, new AbortController().signal), { removed: 450 + 10 + 1 });
  const left = (await listed()).map(({ version }) => version);
  assert.deepEqual(left, ["one", ...young.slice(10).map(({ version }) => version)]);
  assert.deepEqual(await blockRetention(deps, new AbortController().signal), { removed: 0 });
  await assert.rejects(blockRetention(deps, AbortSignal.abort()));
});
