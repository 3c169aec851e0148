import assert from "node:assert/strict";
import { test } from "node:test";
import { selectionOf } from "./field-mask.ts";

test("a selection covers all paths of the mask, and a path wins over its sub-paths in either order", () => {
  assert.deepEqual(
    selectionOf(["name", "claim_match.issuer"]),
    new Map<string, unknown>([
      ["name", "whole"],
      ["claim_match", new Map([["issuer", "whole"]])],
    ]),
  );
  assert.deepEqual(selectionOf(["claim_match", "claim_match.issuer"]), new Map([["claim_match", "whole"]]));
  assert.deepEqual(selectionOf(["claim_match.issuer", "claim_match"]), new Map([["claim_match", "whole"]]));
  assert.deepEqual(selectionOf(["claim_match.*"]), new Map([["claim_match", "whole"]]));
  assert.deepEqual(selectionOf([]), new Map());
});

test("a star selects all fields", () => {
  assert.equal(selectionOf(["*"]), undefined);
});
