import assert from "node:assert/strict";
import test from "node:test";
import { createLru } from "./lru.ts";

test("the entry used longest ago makes room", () => {
  const lru = createLru<string, number>(2);
  lru.set("a", 1);
  lru.set("b", 2);
  assert.equal(lru.get("a"), 1);
  lru.set("c", 3);
  assert.deepEqual([lru.get("a"), lru.get("b"), lru.get("c"), lru.size], [1, undefined, 3, 2]);
  lru.set("a", 4);
  assert.deepEqual([lru.get("a"), lru.size], [4, 2]);
  lru.delete("a");
  assert.deepEqual([lru.get("a"), lru.size], [undefined, 1]);
  lru.clear();
  assert.equal(lru.size, 0);
});
