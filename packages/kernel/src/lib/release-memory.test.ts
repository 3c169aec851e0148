import assert from "node:assert/strict";
import { constants, PerformanceObserver } from "node:perf_hooks";
import { test } from "node:test";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { eventually } from "../../../server/test/support/eventually.ts";
import { releaseMemoryWhenIdle } from "./release-memory.ts";

const heap = (): number => process.memoryUsage().heapTotal;

test("the memory of garbage is given back to the system once nothing is done, and the program gets no collector by it", async (t) => {
  const wholeCollections = countWholeCollections();
  t.after(() => wholeCollections.stop());
  let garbage: object[] | undefined = Array.from({ length: 1_000_000 }, (_, index) => ({ index }));
  assert.equal(garbage.length, 1_000_000);
  garbage = undefined;
  const before = heap();
  releaseMemoryWhenIdle(200);
  // Busy for several of these times, with turns in which timers have their chance.
  for (const startMs = performance.now(); performance.now() - startMs < 1_000;) {
    for (const turnMs = performance.now(); performance.now() - turnMs < 50;);
    await nextTurn();
  }
  assert.equal(wholeCollections.count(), 0, "a thread that works is left alone");
  await eventually(async () => {
    await wait(300);
    return wholeCollections.count() > 0 && before - heap() > 20_000_000;
  });
  assert.equal(runInNewContext("typeof gc"), "undefined");
});

/** Counts collections of all garbage there is, which V8 does not make by itself while it has memory. */
function countWholeCollections(): { count(): number; stop(): void } {
  let count = 0;
  const add = (entries: PerformanceEntry[]): void => {
    for (const { detail } of entries as (PerformanceEntry & { detail: { flags: number } })[])
      if ((detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_ALL_AVAILABLE_GARBAGE) !== 0) count += 1;
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  return {
    count: () => {
      add(observer.takeRecords());
      return count;
    },
    stop: () => observer.disconnect(),
  };
}
