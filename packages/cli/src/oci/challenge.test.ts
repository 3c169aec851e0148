import assert from "node:assert/strict";
import { test } from "node:test";
import { parseChallenge } from "./challenge.ts";

test("the parameters of a challenge are read by their names, whatever stands between them", () => {
  assert.deepEqual(parseChallenge('Bearer realm="https://a/token",service="a",scope="repository:x:pull,push"'), {
    realm: "https://a/token",
    service: "a",
    scope: "repository:x:pull,push",
  });
  assert.deepEqual(parseChallenge(`bearer ${"A".repeat(1_000_000)} REALM="r"`), { realm: "r", service: "", scope: "" });
  assert.equal(parseChallenge(`Bearer ${'a="'.repeat(100_001)}`), undefined);
  assert.equal(parseChallenge('Basic realm="r"'), undefined);
});
