import assert from "node:assert/strict";
import { test } from "node:test";
import { isSignature, patternOf, withPatterns } from "./tag-facts.ts";

test("a pattern of a name matches that name alone", () => {
  assert.equal(patternOf("v1.2-rc"), "v1\\.2-rc");
  assert.match("v1.2", new RegExp(`^(?:${patternOf("v1.2")})$`));
  assert.doesNotMatch("v1x2", new RegExp(`^(?:${patternOf("v1.2")})$`));
});

test("patterns that are there already are not added again", () => {
  assert.deepEqual(withPatterns(["v.*", "v1\\.2"], ["v1.2", "edge"]), ["v.*", "v1\\.2", "edge"]);
});

test("signatures are known by their type, other referrers are none", () => {
  assert.equal(isSignature({ artifactType: "application/vnd.cncf.notary.signature" }), true);
  assert.equal(isSignature({ artifactType: "application/vnd.dev.sigstore.bundle.v0.3+json" }), true);
  assert.equal(isSignature({ artifactType: "application/spdx+json" }), false);
  assert.equal(isSignature({}), false);
});
