import assert from "node:assert/strict";
import { test } from "node:test";
import { IdentitySchema } from "@moorage/api";
import { maskOfPresent, selectionOf } from "./field-mask.ts";

test("a selection is what the paths cover, the wider path winning in either order", () => {
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

test("a star reads everything", () => {
  assert.equal(selectionOf(["*"]), undefined);
});

test("the mask of a body has its updatable fields only", () => {
  const present = IdentitySchema.fields.filter((field) =>
    ["uid", "name", "claim_match", "create_time"].includes(field.name),
  );
  assert.deepEqual(maskOfPresent(present), ["name", "claim_match"]);
});
