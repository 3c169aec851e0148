import assert from "node:assert/strict";
import { test } from "node:test";
import { isOwnRead } from "./own-reads.ts";

test("a token that the console was given is its own read; one that was denied is not", () => {
  assert.equal(isOwnRead({ method: "session.token", decision: "AUDIT_DECISION_ALLOWED" }), true);
  assert.equal(isOwnRead({ method: "session.token", decision: "AUDIT_DECISION_DENIED" }), false);
  assert.equal(isOwnRead({ method: "registry.push", decision: "AUDIT_DECISION_ALLOWED" }), false);
});
