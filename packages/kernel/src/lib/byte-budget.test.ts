import assert from "node:assert/strict";
import { test } from "node:test";
import { createByteBudget } from "./byte-budget.ts";

const MANY = { owner: 10, all: 10 };
const HOUR_MS = 3_600_000;

test("what does not fit waits in order, and a large one is not overtaken", async () => {
  const budget = createByteBudget({ bytes: 100, maxWaiting: MANY, waitMs: HOUR_MS });
  const first = await budget.take("a", 60);
  const order: string[] = [];
  const large = budget.take("b", 80).then((held) => (order.push("large"), held));
  const small = budget.take("c", 10).then((held) => (order.push("small"), held));
  assert.deepEqual(budget.use(), { bytes: 60, waiting: 2 });
  first?.release();
  (await large)?.release();
  (await small)?.release();
  assert.deepEqual(order, ["large", "small"]);
  assert.deepEqual(budget.use(), { bytes: 0, waiting: 0 });
});

test("what is larger than all there is gets it alone", async () => {
  const budget = createByteBudget({ bytes: 100, maxWaiting: MANY, waitMs: HOUR_MS });
  const one = await budget.take("a", 1_000);
  const other = budget.take("a", 1);
  one?.resize(99);
  (await other)?.release();
  one?.release();
  one?.release();
  one?.resize(50);
  assert.deepEqual(budget.use(), { bytes: 0, waiting: 0 });
});

test("who waits too long, or after too many others, gets nothing", async () => {
  const budget = createByteBudget({ bytes: 100, maxWaiting: { owner: 1, all: 2 }, waitMs: 20 });
  const held = await budget.take("a", 100);
  const waiting = budget.take("a", 1);
  assert.equal(await budget.take("a", 1), undefined, "one of this owner waits already");
  const other = budget.take("b", 1);
  assert.equal(await budget.take("c", 1), undefined, "two wait already");
  assert.equal(await waiting, undefined);
  assert.equal(await other, undefined);
  held?.release();
  assert.deepEqual(budget.use(), { bytes: 0, waiting: 0 });
});
