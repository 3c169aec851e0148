import assert from "node:assert/strict";
import test from "node:test";
import { createLru } from "./lru.ts";

test("the least recently used entry is removed first", () => {
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

test("an entry that is used in turn with another counts as used each time", () => {
  const lru = createLru<string, number>(2);
  lru.set("a", 1);
  lru.set("b", 2);
  for (const key of ["b", "a", "b", "b"]) lru.get(key);
  lru.set("c", 3);
  assert.deepEqual([lru.get("a"), lru.get("b"), lru.get("c")], [undefined, 2, 3]);
  lru.delete("c");
  lru.set("c", 4);
  lru.set("d", 5);
  assert.deepEqual([lru.get("b"), lru.get("c"), lru.get("d")], [undefined, 4, 5]);
});

test("with weighted entries, the least recently used are removed until the new one fits", () => {
  const lru = createLru<string, string>(10, (text) => text.length);
  lru.set("a", "1234");
  lru.set("b", "1234");
  lru.set("c", "123456");
  assert.deepEqual([lru.get("a"), lru.get("b"), lru.get("c"), lru.size], [undefined, "1234", "123456", 2]);
  lru.set("b", "1");
  lru.set("d", "123");
  assert.deepEqual([lru.get("b"), lru.get("c"), lru.get("d")], ["1", "123456", "123"]);
  lru.set("e", "12345678901");
  assert.deepEqual([lru.get("e"), lru.size], [undefined, 3]);
  lru.set("d", "12345678901");
  assert.deepEqual([lru.get("d"), lru.size], [undefined, 2]);
  lru.delete("c");
  lru.set("f", "123456789");
  assert.deepEqual([lru.get("b"), lru.get("f")], ["1", "123456789"]);
});
