import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Call } from "../../src/core/call.ts";
import { systemCall } from "../../src/core/system-call.ts";
import { openCall } from "../../../server/src/runtime/open-call.ts";
import type { Row, Store } from "../../src/store/index.ts";
import { leaseOn, queueOn } from "../../src/work/index.ts";
import { openTestStore } from "../../../server/test/support/database.ts";

// Leases and queues as their users have them, by the agreed time, which these tests set.

const HOLD_MS = 1_000;
const [WAITING, DONE, FAILED] = [1, 2, 3];
const readings = queueOn({
  table: "attached_readings",
  key: ["subject", "manifest"],
  holdMs: HOLD_MS,
  open: `state = ${WAITING}`,
  states: { waiting: WAITING, done: DONE, failed: FAILED },
  ended: ({ nowMs }) => ({ finish_time: nowMs }),
});
const fetches = leaseOn({ table: "upstream_fetches", key: ["id"], holdMs: HOLD_MS });

let store: Store;
const dataDir = mkdtempSync(join(tmpdir(), "moorage-queues-"));
let close = async (): Promise<void> => {};
before(async () => {
  ({ store, close } = await openTestStore(dataDir));
});
after(async () => {
  await close();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
});

const at = <T>(nowMs: number, work: (call: Call) => Promise<T>): Promise<T> =>
  store.transact((tx) => work(openCall(systemCall(nowMs), tx)), { isolation: "read committed" });

let count = 0;
/** A manifest that waits to be read, and what a process does with it at a time. */
async function newReading() {
  const key = { subject: "sha256:1", manifest: `sha256:m${(count += 1)}` };
  const row = { ...key, state: WAITING, attempts: 0, reason: "", holder: "", hold_until: 0 };
  await store.transact((tx) =>
    tx
      .insertInto("attached_readings")
      .values({ ...row, create_time: 0, finish_time: null })
      .execute(),
  );
  const read = (): Promise<Row<"attached_readings">> =>
    store.reader
      .selectFrom("attached_readings")
      .selectAll()
      .where("manifest", "=", key.manifest)
      .executeTakeFirstOrThrow();
  const options = { maxAttempts: 2, reason: "it ended each time" };
  return {
    key,
    read,
    claim: async (holder: string, nowMs: number) => {
      const row = await read();
      return await at(nowMs, (call) =>
        readings.claim(call, { ...key, attempts: row.attempts, reason: row.reason }, { holder, ...options }),
      );
    },
    renew: async (holder: string, nowMs: number) =>
      (await at(nowMs, (call) => readings.isHeld(call, { ...key, holder }))).held,
    fail: (holder: string, nowMs: number, delayMs: number | undefined) =>
      at(nowMs, (call) =>
        readings.failAttempt(call, { ...key, holder }, { reason: "no such layer", delayOf: () => delayMs }),
      ),
    release: (holder: string, nowMs: number) => at(nowMs, (call) => readings.release(call, { ...key, holder })),
    finish: (nowMs: number) => at(nowMs, (call) => readings.finish(call, key)),
  };
}

test("one process claims a row; another takes it when that one has renewed nothing for as long as it holds", async () => {
  const { claim, renew, read } = await newReading();
  assert.equal(await claim("a", 10_000), "held");
  assert.equal(await claim("b", 10_999), "lost");
  assert.equal(await renew("a", 10_900), true);
  assert.equal(await claim("b", 11_800), "lost");
  assert.equal(await claim("b", 11_900), "held");
  assert.equal(await renew("a", 12_000), false);
  const { holder, attempts, hold_until: until } = await read();
  assert.deepEqual([holder, attempts, until], ["b", 2, 12_900]);
});

test("of many that claim concurrently one gets the row", async () => {
  const { claim } = await newReading();
  const outcomes = await Promise.all(Array.from({ length: 12 }, (_, n) => claim(`holder ${n}`, 10_000)));
  assert.equal(outcomes.filter((outcome) => outcome === "held").length, 1);
});

test("a row whose holders died too often has failed, for its last reason if there is one", async () => {
  const silent = await newReading();
  for (const [nowMs, outcome] of [
    [10_000, "held"],
    [20_000, "held"],
    [30_000, "failed"],
    [40_000, "lost"],
  ] as const)
    assert.equal(await silent.claim("a", nowMs), outcome);
  const row = await silent.read();
  assert.deepEqual([row.state, row.reason, row.holder, row.finish_time], [FAILED, "it ended each time", "", 30_000]);
  const known = await newReading();
  await known.claim("a", 10_000);
  await known.fail("a", 10_100, 0);
  await known.claim("a", 10_200);
  assert.equal(await known.claim("b", 20_000), "failed");
  assert.equal((await known.read()).reason, "no such layer");
});

test("a failed attempt waits for its time, or is the last; nobody else ends what a process holds", async () => {
  const { claim, fail, read, release } = await newReading();
  await claim("a", 10_000);
  assert.equal(await fail("b", 10_100, 500), undefined);
  await release("b", 10_100);
  assert.equal((await read()).holder, "a");
  assert.equal(await fail("a", 10_100, 500), "again");
  assert.equal(await claim("a", 10_599), "lost");
  assert.equal(await claim("a", 10_600), "held");
  // The process shuts down: that was no attempt.
  await release("a", 10_700);
  assert.deepEqual([(await read()).attempts, (await read()).holder], [1, ""]);
  assert.equal(await claim("b", 10_700), "held");
  assert.equal(await fail("b", 10_800, undefined), "failed");
  const other = await newReading();
  await other.claim("a", 10_000);
  await other.finish(10_500);
  const { state, reason, holder, hold_until: until, finish_time: finished } = await other.read();
  assert.deepEqual([state, reason, holder, until, finished], [DONE, "", "", 0, 10_500]);
  assert.equal(await other.renew("a", 10_600), false);
});

test("a row that is there only while it is held is added, taken over, and removed by its holder alone", async () => {
  const add = (holder: string, nowMs: number, holdMs?: number) =>
    at(nowMs, (call) => fetches.add(call, { id: "left-pad", holder }, holdMs));
  assert.deepEqual([await add("a", 10_000, 500), await add("b", 10_499), await add("b", 10_500)], [true, false, true]);
  await at(10_600, (call) => fetches.remove(call, { id: "left-pad", holder: "a" }));
  assert.equal(await add("a", 10_700), false);
  await at(10_700, (call) => fetches.remove(call, { id: "left-pad", holder: "b" }));
  assert.equal(await add("a", 10_700), true);
});
