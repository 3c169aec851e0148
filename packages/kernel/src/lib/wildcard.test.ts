import assert from "node:assert/strict";
import { test } from "node:test";
import { wildcard } from "./wildcard.ts";

test("a star stands for any characters and for none, and the rest for itself", () => {
  for (const [pattern, text, is] of [
    ["left-pad", "left-pad", true],
    ["left-pad", "left-pads", false],
    ["acme-*", "acme-", true],
    ["acme-*", "acme-ui", true],
    ["acme-*", "other-acme-ui", false],
    ["*-ui", "acme-ui", true],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-c-b", false],
    // What stands before and behind a star does not overlap.
    ["ab*ba", "aba", false],
    ["ab*ba", "abba", true],
    ["*", "", true],
    ["a.c", "abc", false],
  ] as const)
    assert.equal(wildcard(pattern).matches(text), is, `${pattern} ${text}`);
  assert.deepEqual([wildcard("a").stars, wildcard("*a*").stars], [0, 2]);
});
