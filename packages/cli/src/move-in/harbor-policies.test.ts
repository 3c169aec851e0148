import assert from "node:assert/strict";
import { test } from "node:test";
import { quotaPolicy } from "./harbor-policies.ts";

/** The limit that comes of quotas of the project with the number 1, or why none does. */
function comes(...quotas: Record<string, unknown>[]): unknown[] {
  return [...quotaPolicy("acme", 1, quotas)].map(({ bytes, fault }) => bytes ?? fault);
}
const quota = (storage: unknown, id = 1): Record<string, unknown> => ({ id: 9, ref: { id }, hard: { storage } });

test("a limit of bytes comes, and one that says that there is none does not", () => {
  assert.deepEqual(comes(quota(1024)), [1024]);
  assert.deepEqual(comes(quota(-1)), []);
  // The quota of another project is not this one's.
  assert.deepEqual(comes(quota(5, 2), quota(1024)), [1024]);
});

test("a limit that cannot be read is said, and so is one that is not listed", () => {
  for (const odd of [null, "1024", 1.5, 0, -2, 2 ** 60, undefined])
    assert.deepEqual(comes(quota(odd)), ["is no whole number of bytes above 0"], String(odd));
  assert.deepEqual(comes({ id: 9, ref: { id: 1 } }), ["is no whole number of bytes above 0"]);
  const unknown = "is not listed there: whether there is one is not known";
  for (const listed of [[], [quota(1024, 2)], [{ id: 9, hard: { storage: 1024 } }]])
    assert.deepEqual(comes(...listed), [unknown]);
});
