import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { releaseMemory } from "./release-memory.ts";

test("the memory of garbage is given back to the system, and the program gets no collector by it", () => {
  let garbage: object[] | undefined = Array.from({ length: 1_000_000 }, (_, index) => ({ index }));
  assert.equal(garbage.length, 1_000_000);
  garbage = undefined;
  const before = process.memoryUsage().heapTotal;
  releaseMemory();
  assert.ok(before - process.memoryUsage().heapTotal > 20_000_000);
  assert.equal(runInNewContext("typeof gc"), "undefined");
});
