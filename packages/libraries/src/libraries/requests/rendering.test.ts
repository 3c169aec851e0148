import assert from "node:assert/strict";
import { test } from "node:test";
import { renderedAs } from "./rendering.ts";

test("concurrent requests for one document make it once", async () => {
  let made = 0;
  const make = async (): Promise<string> => {
    made += 1;
    await Promise.resolve();
    return "text";
  };
  const all = await Promise.all(Array.from({ length: 8 }, () => renderedAs("one large", make)));
  assert.equal(made, 1);
  assert.equal(new Set(all.map(({ etag }) => etag)).size, 1);
});

test("who waits for a document that fails makes it itself, and so does who comes when it is no longer good", async () => {
  let made = 0;
  const failing = async (): Promise<string> => {
    made += 1;
    await Promise.resolve();
    throw new Error("blocked");
  };
  const all = await Promise.allSettled([1, 2, 3].map(() => renderedAs("one failing", failing)));
  assert.deepEqual([made, all.map(({ status }) => status)], [3, ["rejected", "rejected", "rejected"]]);

  const timed = async (untilMs: number) => {
    await Promise.resolve();
    return { text: String(untilMs), untilMs };
  };
  const [early, late] = await Promise.all([
    renderedAs("one timed", () => timed(100), 50),
    renderedAs("one timed", () => timed(200), 150),
  ]);
  assert.deepEqual([early.untilMs, late.untilMs], [100, 200]);
});
