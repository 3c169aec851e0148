import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createLane } from "./lane.ts";

test("works go side by side until one collides; those, and all that come meanwhile, go one after the other", async () => {
  const lane = createLane();
  let together = 0;
  let inRow = 0;
  let most = 0;
  const done: string[] = [];
  const work = (name: string, collides: boolean) => lane.run(
    async () => {
      together += 1;
      most = Math.max(most, together);
      await turn();
      together -= 1;
      if (collides) throw new Error("collided");
      done.push(name);
    },
    async () => {
      assert.equal(inRow, 0);
      inRow += 1;
      await turn();
      await turn();
      inRow -= 1;
      done.push(`${name} in the row`);
    },
    (error) => error instanceof Error && error.message === "collided",
  );
  await Promise.all([work("a", true), work("b", true), work("c", true)]);
  assert.equal(most, 3);
  assert.deepEqual(done, ["a in the row", "b in the row", "c in the row"]);

  const first = work("d", true);
  await turn();
  await turn();
  await Promise.all([first, work("e", false)]);
  await work("f", false);
  assert.deepEqual(done.slice(3), ["d in the row", "e in the row", "f"]);
});

test("another failure is the work's own, and the row goes on behind one that fails in it", async () => {
  const lane = createLane();
  const never = async (): Promise<never> => assert.fail("it did not collide");
  await assert.rejects(lane.run(() => Promise.reject(new Error("wrong")), never, () => false), /wrong/);
  const failing = lane.run(() => Promise.reject(new Error("collided")), () => Promise.reject(new Error("failed again")), () => true);
  const next = lane.run(() => Promise.reject(new Error("collided")), () => Promise.resolve("through"), () => true);
  await assert.rejects(failing, /failed again/);
  assert.equal(await next, "through");
});
