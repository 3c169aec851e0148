import assert from "node:assert/strict";
import { test } from "node:test";
import { shownBody } from "./debug.ts";

test("no JWT is shown, wherever it stands in a body", () => {
  const jwt = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl";
  const shown = shownBody(`{"a": "x ${jwt}", "b": ["Bearer ${jwt}"], "c": "in.${jwt}", "d": "eyJustText"}`, "");
  assert.equal(shown, '{"a":"x ***","b":["Bearer ***"],"c":"in.***","d":"eyJustText"}');
  assert.equal(shownBody(`${jwt}.more`, "text/plain"), "***");
  assert.equal(shownBody("eyJ-".repeat(1_000_000), "text/plain").length < 5_000, true);
});
