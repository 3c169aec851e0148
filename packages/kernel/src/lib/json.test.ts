import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { parseJson } from "./json.ts";

test("it parses what JSON.parse parses, down to the maximum depth", () => {
  fc.assert(fc.property(fc.json({ maxDepth: 6 }), (text) => assert.deepEqual(parseJson(text, 20), JSON.parse(text))));
  assert.deepEqual(parseJson(`{"a":["[[[[","\\"[{"]}`, 2), { a: ["[[[[", `"[{`] });
  assert.throws(() => parseJson("[[[1]]]", 2), SyntaxError);
  assert.throws(() => parseJson("[".repeat(1_000_000), 100), SyntaxError);
  assert.throws(() => parseJson("", 2), SyntaxError);
});
