import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { eventually } from "../../../server/test/support/eventually.ts";
import { releaseMemoryWhenIdle } from "./release-memory.ts";

const heap = (): number => process.memoryUsage().heapTotal;

test("the memory of garbage is given back to the system once nothing is done, and the program gets no collector by it", async () => {
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
  assert.ok(before - heap() < 20_000_000, "a thread that works is left alone");
  await eventually(async () => {
    await wait(300);
    return before - heap() > 20_000_000;
  });
  assert.equal(runInNewContext("typeof gc"), "undefined");
});
