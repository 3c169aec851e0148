import assert from "node:assert/strict";
import { test } from "node:test";
import { createTurns } from "./turns.ts";

/** Longer than a turn, however fast the machine. */
function work(): void {
  for (const endMs = performance.now() + 12; performance.now() < endMs;);
}

test("of several loops one has a turn at a time, and others are served between any two of their steps", async () => {
  const seen: string[] = [];
  const loops = Promise.all(
    ["a", "b", "c", "d"].map(async (name) => {
      const turn = createTurns();
      for (let step = 0; step < 3; step++) {
        work();
        seen.push(name);
        await turn();
      }
    }),
  );
  let isOver = false;
  const other = (): void => {
    seen.push("other");
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  await loops;
  isOver = true;
  // They begin together; between any two of their later steps something else is done.
  assert.deepEqual(seen.slice(0, 4), ["a", "b", "c", "d"]);
  const later = seen.slice(4);
  assert.deepEqual(later.filter((each) => each !== "other").join(""), "abcdabcd");
  for (const [at, each] of later.slice(1).entries())
    assert.ok(each === "other" || later[at] === "other", seen.join(" "));
});
