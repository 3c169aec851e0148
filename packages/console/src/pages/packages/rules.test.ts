import assert from "node:assert/strict";
import { test } from "node:test";
import { isReserved, nearest } from "./rules.ts";

test("the nearest rule above a group counts, and no rule of another group", () => {
  const rules = [{ uid: "org/p1" }, { uid: "org/team/p2" }, { uid: "org/teams/p3" }, { uid: "other/p4" }];
  assert.equal(nearest("org/team/web", rules)?.uid, "org/team/p2");
  assert.equal(nearest("org/teams", rules)?.uid, "org/teams/p3");
  assert.equal(nearest("org/x", rules)?.uid, "org/p1");
  assert.equal(nearest("nowhere", rules), undefined);
});

test("a reserved name is one as a whole, or by what it begins with", () => {
  assert.equal(isReserved("@acme/ui", ["@acme/*"]), true);
  assert.equal(isReserved("@acmes/ui", ["@acme/*"]), false);
  assert.equal(isReserved("com.acme:pay", ["com.acme"]), true);
});
