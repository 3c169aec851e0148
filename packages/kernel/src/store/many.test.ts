import assert from "node:assert/strict";
import { test } from "node:test";
import { declareMany, manyFormOf } from "./many.ts";

test("a statement that cannot be run for many callers together is rejected where it is declared", () => {
  for (const text of [
    "delete from tags where uid = ?",
    "insert into tags (uid) values (?) on conflict do nothing",
    "insert into tags (uid) values (?), (?)",
    "insert into tags (uid) select ?",
    "update tags set digest = ?",
    "update tags set digest = ? where uid in (select uid from repos where name = ?)",
    "update tags set digest = ? where uid = ? returning digest",
    "select uid from tags",
  ]) {
    const types = Array.from(text.matchAll(/\?/g), () => "text" as const);
    assert.throws(() => declareMany(text, types), text);
    assert.equal(manyFormOf(text), undefined);
  }
  assert.throws(() => declareMany("select uid from tags where uid = ?", ["text", "text"]), /1 parameters, 2 types/);
});
