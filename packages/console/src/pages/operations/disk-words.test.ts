import assert from "node:assert/strict";
import { test } from "node:test";
import { isLittle } from "./disk-words.ts";

test("less than a tenth of a disk is little", () => {
  assert.equal(isLittle({ totalBytes: "1000", freeBytes: "99" }), true);
  assert.equal(isLittle({ totalBytes: "1000", freeBytes: "100" }), false);
  assert.equal(isLittle({ totalBytes: "1000", freeBytes: "0" }), true);
});
