import assert from "node:assert/strict";
import test from "node:test";
import { ByteBudgetError, createByteBudget } from "./byte-budget.ts";

test("bytes are given out in order, and what is more than all of them waits for all", async () => {
  const budget = createByteBudget({ bytes: 10, timeoutMs: 60_000, maxWaiting: 10 });
  const first = await budget.take(6);
  const order: string[] = [];
  const large = budget.take(100).then((lease) => {
    order.push("large");
    return lease;
  });
  const small = budget.take(1).then((lease) => {
    order.push("small");
    return lease;
  });
  await first.grow(4);
  assert.deepEqual(order, [], "nobody overtakes the one that waits for all");
  first.release();
  (await large).release();
  (await small).release();
  assert.deepEqual(order, ["large", "small"]);
});

test("a lease grows with what it holds, and gives all of it back once", async () => {
  const budget = createByteBudget({ bytes: 10, timeoutMs: 60_000, maxWaiting: 10 });
  const lease = await budget.take(2);
  await lease.grow(1);
  await lease.grow(10);
  let isTaken = false;
  const next = budget.take(10).then((taken) => {
    isTaken = true;
    return taken;
  });
  await Promise.resolve();
  assert.equal(isTaken, false);
  lease.release();
  lease.release();
  (await next).release();
  (await budget.take(10)).release();
});

test("whoever waits for too long, or behind too many, gets an error", async () => {
  const budget = createByteBudget({ bytes: 10, timeoutMs: 1, maxWaiting: 1 });
  const lease = await budget.take(10);
  const waits = budget.take(1);
  await assert.rejects(budget.take(1), ByteBudgetError);
  await assert.rejects(waits, ByteBudgetError);
  lease.release();
  (await budget.take(10)).release();
});
