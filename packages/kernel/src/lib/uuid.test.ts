import assert from "node:assert/strict";
import { test } from "node:test";
import { uuidOf } from "./uuid.ts";

test("UUIDs are of version 7, unique, and in the order of their times", () => {
  const times = [0, 1, 999, 1_700_000_000_000, 1_700_000_000_001, 2 ** 47];
  const made = times.map(uuidOf);
  for (const [at, uuid] of made.entries()) {
    assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16), times[at]);
  }
  assert.deepEqual(made.toSorted(), made);
  assert.equal(new Set(Array.from({ length: 1000 }, () => uuidOf(1))).size, 1000);
});
