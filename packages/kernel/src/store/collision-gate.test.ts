import assert from "node:assert/strict";
import test from "node:test";
import { Code, MoorageError } from "../errors.ts";
import { TransientError } from "./failures.ts";
import { createGate } from "./collision-gate.ts";

/** Runs work that ends when the test says so. */
function works(gate: ReturnType<typeof createGate>) {
  const underWay: { name: string; end(error?: Error): void }[] = [];
  const start = (name: string, again = false, apart = false): Promise<string> =>
    gate.run(
      () => {
        const { promise, resolve, reject } = Promise.withResolvers<string>();
        const self = {
          name,
          end: (error?: Error) => {
            underWay.splice(underWay.indexOf(self), 1);
            if (error) reject(error);
            else resolve(name);
          },
        };
        underWay.push(self);
        return promise;
      },
      again,
      apart,
    );
  const names = (): string[] => underWay.map(({ name }) => name);
  const end = async (error?: Error): Promise<void> => {
    underWay[0]?.end(error);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { start, names, end };
}

const collision = new TransientError("collision", undefined);

test("at most `most` transactions run concurrently, the others wait in order", async () => {
  const { start, names, end } = works(createGate(2, 10_000));
  const all = Promise.allSettled(["a", "b", "c", "d"].map((name) => start(name)));
  assert.deepEqual(names(), ["a", "b"]);
  await end();
  assert.deepEqual(names(), ["b", "c"]);
  await end(new Error("wrong"));
  assert.deepEqual(names(), ["c", "d"]);
  await end();
  await end();
  assert.deepEqual(
    (await all).map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled", "fulfilled"],
  );
});

test("a few collisions change nothing, many halve the width, and a time without collisions widens it again", async () => {
  const gate = createGate(8, 10_000);
  const { start, end } = works(gate);
  for (let at = 0; at < 32; at++) {
    const one = start("one");
    const settled = Promise.allSettled([one]);
    await end(at % 8 === 0 ? collision : undefined);
    await settled;
  }
  assert.equal(gate.width, 8, "one of eight");
  const round = Promise.allSettled(Array.from({ length: 8 }, (_, at) => start(`${at}`)));
  for (let at = 0; at < 8; at++) await end(collision);
  assert.ok((await round).every(({ status }) => status === "rejected"));
  assert.equal(gate.width, 2, "eight of eight, twice a quarter of sixteen");
  for (let at = 0; at < 9; at++) {
    const refused = assert.rejects(start("next"));
    await end(collision);
    await refused;
  }
  assert.equal(gate.width, 1, "never none");
  for (let at = 0; at < 1000; at++) {
    const next = start("next");
    await end();
    await next;
  }
  assert.equal(gate.width, 8, "never more than there are places for");
});

test("work that waits too long gets an error and occupies no place", async () => {
  const { start, names, end } = works(createGate(1, 50));
  const first = start("first");
  await assert.rejects(
    start("late"),
    (error: unknown) => error instanceof MoorageError && error.code === Code.Unavailable,
  );
  await end();
  const next = start("next");
  assert.deepEqual(names(), ["next"]);
  await end();
  assert.deepEqual(await Promise.all([first, next]), ["first", "next"]);
});

test("a retry goes first", async () => {
  const { start, names, end } = works(createGate(1, 60_000));
  const first = start("first");
  const [newcomer, again] = [start("newcomer"), start("again", true)];
  await end();
  assert.deepEqual(names(), ["again"]);
  await end();
  assert.deepEqual(names(), ["newcomer"]);
  await end();
  assert.deepEqual(await Promise.all([first, newcomer, again]), ["first", "newcomer", "again"]);
});

test("work that is apart does not wait for collisions, does not change the width, and leaves half of the places to other work", async () => {
  const gate = createGate(4, 10_000);
  const { start, names, end } = works(gate);
  const collided = Promise.allSettled(Array.from({ length: 4 }, (_, at) => start(`${at}`)));
  for (let at = 0; at < 4; at++) await end(collision);
  await collided;
  assert.equal(gate.width, 2);
  const all = Promise.allSettled([
    ...["a", "b", "c"].map((name) => start(name)),
    ...["x", "y", "z"].map((name) => start(name, false, true)),
  ]);
  assert.deepEqual(names(), ["a", "b", "x", "y"]);
  const more = Promise.allSettled(Array.from({ length: 40 }, (_, at) => start(`apart ${at}`, false, true)));
  await end();
  assert.deepEqual(names(), ["b", "x", "y", "c"]);
  await end();
  await end();
  assert.deepEqual(names(), ["y", "c", "z"]);
  for (let at = 0; at < 43; at++) await end(collision);
  assert.deepEqual(names(), []);
  await Promise.all([all, more]);
  assert.equal(gate.width, 2, "neither their calm nor their collisions are looked at");
});
