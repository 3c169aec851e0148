import assert from "node:assert/strict";
import { test } from "node:test";
import { csvLine } from "./csv.ts";

test("cells with separators are quoted, and none is a formula", () => {
  assert.equal(csvLine(["a", 'say "b"', "c,d", "e\nf"]), 'a,"say ""b""","c,d","e\nf"\r\n');
  assert.equal(csvLine(["=1+1", "+1", "-1", "@x", "\tx", "1-1"]), "'=1+1,'+1,'-1,'@x,'\tx,1-1\r\n");
  assert.equal(csvLine(["=a,b"]), `"'=a,b"\r\n`);
});
