import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startWorker, type Worker } from "./worker.ts";

const HOUR_MS = 3_600_000;

interface Watched {
  worker: Worker;
  /** The runs that began so far. */
  runs(): number;
  warnings: string[];
  /** Resolves when that many runs have begun. */
  began(count: number): Promise<void>;
}

/** A worker that looks by itself once an hour, unless said otherwise. */
function watch(
  t: TestContext,
  run: (n: number) => Promise<number | void>,
  options: { pollMs?: number; firstMs?: number; isPaused?: () => boolean } = {},
): Watched {
  let runs = 0;
  const warnings: string[] = [];
  const worker = startWorker({
    run: () => run((runs += 1)),
    what: "the work",
    pollMs: HOUR_MS,
    firstMs: HOUR_MS,
    stopping: new AbortController(),
    log: { warn: (_fields, message) => void warnings.push(message) },
    ...options,
  });
  t.after(() => worker.stop());
  return {
    worker,
    runs: () => runs,
    warnings,
    async began(count) {
      await eventually(() => runs >= count);
    },
  };
}

test("many wake-ups are one run, and one more when they come while it is under way", async (t) => {
  const { promise: ends, resolve: end } = Promise.withResolvers<void>();
  const { worker, runs, began } = watch(t, async (n) => {
    if (n === 1) await ends;
  });
  for (let n = 0; n < 1_000; n++) worker.wake();
  await began(1);
  for (let n = 0; n < 1_000; n++) worker.wake();
  assert.equal(runs(), 1);
  end();
  await began(2);
  // Nothing is left that would begin another.
  await wait(200);
  assert.equal(runs(), 2);
});

test("while wake-ups keep coming it rests longer after each run", async (t) => {
  const times: number[] = [];
  const { worker, began } = watch(t, async () => {
    times.push(performance.now());
    worker.wake();
  });
  worker.wake();
  await began(5);
  const rests = times.slice(1).map((timeMs, n) => timeMs - (times[n] ?? 0));
  // At least so long, by a clock that may be a millisecond off; a busy machine makes it longer.
  for (const [n, leastMs] of [40, 80, 160, 320].entries())
    assert.ok((rests[n] ?? 0) > leastMs - 2, `rest ${n} is ${rests[n]} ms`);
});

test("a run that failed is logged, and another follows that is not woken", async (t) => {
  const { worker, warnings, began } = watch(t, async (n) => {
    if (n === 1) throw new Error("no database");
  });
  worker.wake();
  await began(2);
  assert.deepEqual(warnings, ["the work failed"]);
});

test("it looks again when a run says so, though it is woken before", async (t) => {
  const { worker, began } = watch(t, async (n) => (n === 1 ? 300 : undefined));
  worker.wake();
  await began(1);
  worker.wake();
  await began(3);
});

test("it looks by itself, not while it is paused, and no more when it was stopped", async (t) => {
  let isPaused = true;
  let asked = 0;
  const { worker, runs, began } = watch(t, async () => {}, {
    pollMs: 5,
    firstMs: 0,
    isPaused: () => {
      asked += 1;
      return isPaused;
    },
  });
  await eventually(() => asked >= 3);
  assert.equal(runs(), 0);
  isPaused = false;
  await began(3);
  await worker.stop();
  const before = runs();
  worker.wake();
  await wait(100);
  assert.equal(runs(), before);
});
