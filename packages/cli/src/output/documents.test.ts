import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parse } from "yaml";
import type { Json, JsonObject } from "../api/rest.ts";
import { jsonLine, jsonText } from "./json.ts";
import { yamlText } from "./yaml.ts";

// What a terminal might obey: a JSON or YAML document needs none of it outside of escapes.
// eslint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

const json = fc.json({ stringUnit: "binary" }).map((text) => JSON.parse(text) as Json);

test("JSON is the same value, with every control character as an escape", () => {
  fc.assert(
    fc.property(json, (value) => {
      assert.deepEqual(JSON.parse(jsonText(value)), value);
      assert.deepEqual(JSON.parse(jsonLine(value)), value);
      assert.doesNotMatch(jsonText(value), CONTROLS);
      assert.ok(!jsonLine(value).includes("\n"));
    }),
  );
  assert.equal(jsonText({ a: "\u009b31m\u202e" }), '{\n  "a": "\\u009b31m\\u202e"\n}');
});

test("YAML is the same value, with every control character as an escape", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "binary" }), json), (value: JsonObject) => {
      const copy = JSON.parse(JSON.stringify(value)) as JsonObject;
      const text = yamlText(copy);
      assert.deepEqual(parse(text), copy);
      assert.doesNotMatch(text, CONTROLS);
    }),
  );
});

test("YAML quotes what older readers take for something else than a text", () => {
  assert.equal(
    yamlText({ on: "yes", time: "2026-01-01T00:00:00Z", size: "12", octal: "0o17", none: "~" }),
    '"on": "yes"\ntime: "2026-01-01T00:00:00Z"\nsize: "12"\noctal: "0o17"\nnone: "~"\n',
  );
});
