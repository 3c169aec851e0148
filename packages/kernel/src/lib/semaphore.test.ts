import assert from "node:assert/strict";
import { test } from "node:test";
import { createSemaphore } from "./semaphore.ts";

test("at most `limit` tasks run concurrently and in order, and a failed task frees its slot", async () => {
  const semaphore = createSemaphore(2);
  const began: number[] = [];
  let running = 0;
  let most = 0;
  const work = (n: number) => async (): Promise<number> => {
    began.push(n);
    most = Math.max(most, (running += 1));
    await new Promise(setImmediate);
    running -= 1;
    if (n % 3 === 0) throw new Error("no");
    return n;
  };
  const ended = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => semaphore(work(n))));
  assert.deepEqual(
    began,
    Array.from({ length: 10 }, (_, n) => n),
  );
  assert.equal(most, 2);
  assert.deepEqual(
    ended.map(({ status }) => status === "rejected"),
    Array.from({ length: 10 }, (_, n) => n % 3 === 0),
  );
});
