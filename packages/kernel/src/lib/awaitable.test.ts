import assert from "node:assert/strict";
import { test } from "node:test";
import { after, attempt, lastly } from "./awaitable.ts";

const later = async <T>(value: T): Promise<T> => value;
const fail = (): never => {
  throw new Error("no");
};

test("what has its value is used in the same turn, what has not when it has", async () => {
  assert.equal(
    after(1, (value) => value + 1),
    2,
  );
  assert.equal(await after(later(1), (value) => value + 1), 2);
  assert.equal(await after(1, (value) => later(value + 1)), 2);
});

test("a failure is caught whether it is thrown or rejected", async () => {
  assert.equal(
    attempt<string>(fail, () => "caught"),
    "caught",
  );
  assert.equal(
    await attempt<string>(
      () => later(0).then(fail),
      () => "caught",
    ),
    "caught",
  );
  assert.equal(
    attempt(
      () => "value",
      () => "caught",
    ),
    "value",
  );
});

test("what is done last is done once, after the work or its failure", async () => {
  const done: string[] = [];
  const last = (): void => void done.push("last");
  assert.equal(
    lastly(() => {
      done.push("work");
      return 1;
    }, last),
    1,
  );
  assert.throws(() => lastly(fail, last), /no/);
  assert.deepEqual(done, ["work", "last", "last"]);
  const works = lastly(async () => {
    await later(0);
    done.push("work");
  }, last);
  assert.equal(done.length, 3);
  await works;
  await assert.rejects(async () => await lastly(() => later(0).then(fail), last), /no/);
  assert.deepEqual(done.slice(3), ["work", "last", "last"]);
});
