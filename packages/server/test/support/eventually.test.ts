import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "./eventually.ts";

test("what is found in the end is returned, an empty text and null too; a failed look is thrown", async () => {
  let looks = 0;
  assert.equal(await eventually(() => (looks += 1) > 2 && "found"), "found");
  assert.equal(looks, 3);
  for (const value of ["", 0, null, true]) assert.equal(await eventually(async () => value), value);
  await assert.rejects(
    eventually(async () => {
      throw new Error("cannot look");
    }),
    /cannot look/,
  );
});

test("what never comes ends at the limit, with the condition and what there is instead", async () => {
  const isThere = false;
  await assert.rejects(
    eventually(() => isThere, { limitMs: 1 }),
    /not so after 0.001 s: \(\) => isThere$/,
  );
  await assert.rejects(
    eventually(() => isThere, { limitMs: 1, everyMs: 5, instead: async () => ["another"] }),
    /: \(\) => isThere\nThere is \[ 'another' \]$/,
  );
});
