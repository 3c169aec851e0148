import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../api/errors.ts";
import { fieldErrors, otherError } from "./field-errors.ts";

const errorOn = (...fields: string[]): ApiError =>
  new ApiError(400, {
    code: "INVALID_ARGUMENT",
    message: "invalid",
    violations: fields.map((field) => ({ field, description: `${field} is wrong` })),
  });

test("a field has the errors of its parts, wherever it stands", () => {
  const wrong = fieldErrors(errorOn("type_prefixes[0]", "repo.syncConfig.source"));
  assert.equal(wrong("typePrefixes"), "type_prefixes[0] is wrong");
  assert.equal(wrong("syncConfig.source"), "repo.syncConfig.source is wrong");
  assert.equal(wrong("source"), "repo.syncConfig.source is wrong");
  assert.equal(wrong("type"), undefined);
  assert.equal(wrong("syncConfig.sourc"), undefined);
});

test("an error that names no field of the form is shown as a whole", () => {
  const error = errorOn("sink", "uid");
  assert.equal(otherError(error, ["sink"]), error);
  assert.equal(otherError(error, ["sink", "uid"]), undefined);
  assert.equal(otherError(undefined, []), undefined);
});
