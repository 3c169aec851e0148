import assert from "node:assert/strict";
import test from "node:test";
import { Capability } from "@moorage/api";
import fc from "fast-check";
import { isWithin } from "@moorage/kernel/lib/uid";
import { narrow, parseNarrowing } from "./narrowing.ts";

const known = { platform: "https://moorage.example", registry: "moorage.example", mcp: "https://moorage.example/mcp" };

test("a request without limits narrows nothing", () => {
  assert.deepEqual(parseNarrowing({ audiences: [] }, known), { audiences: [] });
  assert.deepEqual(narrow({}, { audiences: [] }), {});
  assert.deepEqual(narrow({ capabilities: [Capability.CAP_REPO_LIST] }, { audiences: [] }), {
    capabilities: [Capability.CAP_REPO_LIST],
  });
});

test("all malformed fields are reported together", () => {
  assert.throws(
    () => parseNarrowing({ audiences: ["x"], capabilities: ["x"], scopes: ["x"] }, known),
    (error: { details: { fieldViolations: { field: string }[] } }) => {
      assert.deepEqual(
        error.details.fieldViolations.map(({ field }) => field),
        ["aud", "cap", "scopes"],
      );
      return true;
    },
  );
});

test("a narrowed token reaches exactly what both the first token and the request reach", () => {
  const root = "a".repeat(40);
  // A small tree, so that held and requested scopes often overlap: siblings, ancestors and equal uids.
  const uid = fc
    .array(fc.constantFrom("b".repeat(16), "c".repeat(16)), { maxLength: 3 })
    .map((parts) => [root, ...parts].join("/"));
  const uids = fc.uniqueArray(uid, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(uids, uids, uid, (held, wanted, target) => {
      const reach = (scopes: string[]) => scopes.some((scope) => isWithin(target, scope));
      let scopes: string[] = [];
      try {
        scopes = narrow({ scopes: held }, { audiences: [], scopes: wanted }).scopes ?? [];
      } catch {
        // Rejected, since no scope is left.
      }
      assert.equal(reach(scopes), reach(held) && reach(wanted));
    }),
  );
});
