import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createFairQueue, type FairQueue, type QueueProblem } from "./fair-queue.ts";

const queue = (options: Partial<Parameters<typeof createFairQueue>[0]> = {}): FairQueue =>
  createFairQueue({
    concurrency: 1,
    maxWaiting: 10_000,
    timeoutMs: 60_000,
    reject: (problem) => new Error(problem),
    ...options,
  });

/** Begins requests, of which each ends when `step` is called; `began` has them in their order. */
function driver(fair: FairQueue) {
  const began: string[] = [];
  const rejected: [string, QueueProblem][] = [];
  const begin = (key: string, name: string, isGone?: () => boolean): void => {
    const waited = fair.begin(key, isGone);
    if (waited === undefined) return void began.push(name);
    waited.then(
      () => began.push(name),
      (error: Error) => rejected.push([name, error.message as QueueProblem]),
    );
  };
  /** Ends one that is under way, and waits until the next has begun. */
  const step = async (): Promise<void> => {
    fair.end();
    await turn();
    await turn();
  };
  return { began, rejected, begin, step };
}

test("keys take turns, whoever came first with however many; within a key the oldest is next", async () => {
  const fair = queue();
  const { began, begin, step } = driver(fair);
  for (let at = 0; at < 3_000; at += 1) begin("a", `a${at}`);
  begin("b", "b0");
  begin("b", "b1");
  begin("c", "c0");
  assert.deepEqual(began, ["a0"]);
  assert.equal(fair.waiting(), 3_002);
  for (let at = 0; at < 7; at += 1) await step();
  assert.deepEqual(began, ["a0", "a1", "b0", "c0", "a2", "b1", "a3", "a4"]);
  begin("b", "b2");
  for (let at = 0; at < 2; at += 1) await step();
  assert.deepEqual(began.slice(-2), ["a5", "b2"]);
  while (fair.waiting() > 0) await step();
  assert.equal(began.length, 3_004);
  await step();
  begin("d", "d0");
  assert.equal(began.at(-1), "d0", "with nobody under way one begins immediately");
});

test("work that never waits lets others in all the same", async () => {
  const fair = queue({ concurrency: 100 });
  const order: string[] = [];
  const work = async (name: string): Promise<void> => {
    const endMs = performance.now() + 1;
    while (performance.now() < endMs);
    order.push(name);
  };
  const run = async (key: string, name: string): Promise<void> => {
    const waited = fair.begin(key);
    if (waited !== undefined) await waited;
    await work(name);
    fair.end();
  };
  const all = Array.from({ length: 200 }, (_, at) => run("a", `a${at}`));
  await turn();
  all.push(run("b", "b"));
  await Promise.all(all);
  assert.ok(order.indexOf("b") < 150, `b was number ${order.indexOf("b")}`);
});

test("of a full queue the newest of who has most waiting is rejected, and never a newcomer of another key", async () => {
  const fair = queue({ maxWaiting: 3 });
  const { began, rejected, begin, step } = driver(fair);
  for (const name of ["a0", "a1", "a2", "a3", "a4"]) begin("a", name);
  await turn();
  assert.deepEqual(rejected, [["a4", "full"]]);
  begin("b", "b0");
  begin("b", "b1");
  await turn();
  assert.deepEqual(rejected.slice(1), [
    ["a3", "full"],
    ["a2", "full"],
  ]);
  for (let at = 0; at < 3; at += 1) await step();
  assert.deepEqual(began, ["a0", "a1", "b0", "b1"]);
});

test("who waits too long is rejected, and whose client has left is not begun", async () => {
  const fair = queue({ timeoutMs: 20 });
  const { began, rejected, begin, step } = driver(fair);
  begin("a", "a0");
  begin("a", "a1");
  while (rejected.length === 0) await turn();
  assert.deepEqual([rejected, fair.waiting()], [[["a1", "late"]], 0]);

  const other = driver(queue());
  let hasLeft = false;
  other.begin("a", "a0");
  other.begin("a", "a1", () => hasLeft);
  other.begin("a", "a2");
  hasLeft = true;
  await other.step();
  assert.deepEqual([other.began, other.rejected], [["a0", "a2"], [["a1", "gone"]]]);
  await step();
  begin("b", "b0");
  assert.deepEqual(began, ["a0", "b0"]);
});
