import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { blocksOf } from "./blocks.ts";

test("a block ends where the source waits, and at its most", async () => {
  async function* pages() {
    yield* [1, 2, 3];
    await turn();
    await turn();
    yield* [4, 5, 6, 7, 8, 9];
  }
  const blocks: number[][] = [];
  for await (const block of blocksOf(pages(), 4)) blocks.push([...block]);
  assert.deepEqual(blocks, [
    [1, 2, 3],
    [4, 5, 6, 7],
    [8, 9],
  ]);
});

test("what came before a failure is given first", async () => {
  async function* broken() {
    yield 1;
    throw new Error("gone");
  }
  const seen: number[][] = [];
  await assert.rejects(
    async () => {
      for await (const block of blocksOf(broken(), 4)) seen.push(block);
    },
    { message: "gone" },
  );
  assert.deepEqual(seen, [[1]]);
});

test("whoever stops reading ends the source", async () => {
  let ended = false;
  async function* endless() {
    try {
      for (;;) yield 1;
    } finally {
      ended = true;
    }
  }
  for await (const block of blocksOf(endless(), 3)) {
    assert.deepEqual(block, [1, 1, 1]);
    break;
  }
  assert.ok(ended);
});
