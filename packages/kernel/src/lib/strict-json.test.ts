import assert from "node:assert/strict";
import { test } from "node:test";
import { parseStrictJson } from "./strict-json.ts";

const parse = (text: string): unknown => parseStrictJson(Buffer.from(text), 8, 1_000);

test("JSON is read as it is", () => {
  for (const text of ['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', '["a","a"]', '{"a":":","b":"\\"a\\":"}', '"a"', " 1 "])
    assert.deepEqual(parse(text), JSON.parse(text), text);
});

test("a name that stands twice is rejected, however it is written", () => {
  for (const text of ['{"a":1,"a":2}', '{"a":1,"\\u0061" : 2}', '[{"b":{"c":1,"d":2,"c":1}}]', '{"a\\"":1,"a\\"":1}'])
    assert.throws(() => parse(text), /stands twice/, text);
});

test("what is too deep, has too many values, or is not UTF-8 is rejected", () => {
  assert.throws(() => parse(`${"[".repeat(9)}${"]".repeat(9)}`), /nested too deeply/);
  assert.throws(() => parse(JSON.stringify(Array(1_001).fill(1))), /too many values/);
  assert.throws(() => parseStrictJson(Buffer.from([0x22, 0xff, 0x22]), 8, 8), /not UTF-8/);
  assert.throws(() => parseStrictJson(Buffer.from([0xef, 0xbb, 0xbf, 0x31]), 8, 8), SyntaxError);
});
