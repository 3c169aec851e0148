import assert from "node:assert/strict";
import { test } from "node:test";
import { cut, pad, widthOf } from "./width.ts";

test("letters of East Asia take two columns, combining marks and joined emoji none of their own", () => {
  assert.deepEqual(["app", "日本", "é", "e\u0301", "👩‍💻", "ﬁ", ""].map(widthOf), [3, 4, 1, 1, 2, 1, 0]);
});

test("texts are cut between letters, and never wider than asked", () => {
  assert.equal(cut("registry", 8), "registry");
  assert.equal(cut("registry", 5), "regi…");
  assert.equal(cut("日本語の", 6), "日本…");
  assert.equal(cut("日本語の", 4), "日…");
  assert.equal(cut("e\u0301e\u0301e\u0301", 2), "e\u0301…");
  assert.deepEqual([cut("abc", 1), cut("abc", 0)], ["…", ""]);
});

test("padding counts columns", () => {
  assert.equal(pad("日本", 6), "日本  ");
  assert.equal(pad("12", 4, true), "  12");
});
