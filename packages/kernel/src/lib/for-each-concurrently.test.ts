import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { forEachConcurrently } from "./for-each-concurrently.ts";

test("every item is processed once, and never more items concurrently than the limit", async () => {
  const seen: number[] = [];
  let running = 0;
  let most = 0;
  await forEachConcurrently(
    Array.from({ length: 50 }, (_, at) => at),
    4,
    async (item) => {
      running += 1;
      most = Math.max(most, running);
      for (let turns = 0; turns < (item % 3) + 1; turns += 1) await turn();
      seen.push(item);
      running -= 1;
    },
  );
  assert.deepEqual(
    seen.sort((a, b) => a - b),
    Array.from({ length: 50 }, (_, at) => at),
  );
  assert.equal(most, 4);
});

test("after a failure no more items are started, and the error is thrown when those in progress have ended", async () => {
  let [begun, ended] = [0, 0];
  let closed = false;
  const source = async function* (): AsyncGenerator<number> {
    try {
      for (let item = 0; ; item += 1) yield item;
    } finally {
      closed = true;
    }
  };
  await assert.rejects(
    forEachConcurrently(source(), 3, async (item) => {
      begun += 1;
      if (item === 5) throw new Error("five");
      await turn();
      ended += 1;
    }),
    /five/,
  );
  assert.ok(begun <= 8);
  assert.equal(ended, begun - 1);
  assert.ok(closed);
});

test("an error of the iterator is thrown", async () => {
  const source = async function* (): AsyncGenerator<number> {
    yield 1;
    throw new Error("no more");
  };
  await assert.rejects(
    forEachConcurrently(source(), 2, async () => {}),
    /no more/,
  );
});
