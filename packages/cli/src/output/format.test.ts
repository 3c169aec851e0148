import assert from "node:assert/strict";
import { test } from "node:test";
import { formatOf, parseFormat } from "./format.ts";

test("formats are read with their expressions", () => {
  assert.deepEqual(parseFormat("wide"), { kind: "wide" });
  assert.deepEqual(parseFormat("jsonpath={.a=b}"), { kind: "jsonpath", expression: "{.a=b}" });
  assert.deepEqual(parseFormat("template={{a}}\n{{b}}"), { kind: "template", expression: "{{a}}\n{{b}}" });
  for (const wrong of ["", "xml", "JSON", "jsonpath", "template=", "table=1"])
    assert.equal(parseFormat(wrong), undefined, wrong);
});

test("--jq is for JSON alone", () => {
  assert.deepEqual(formatOf({ jq: ".a", output: "json" }), { kind: "jq", expression: ".a" });
  assert.throws(() => formatOf({ jq: ".a", output: "yaml" }), {
    message: /--jq filters JSON: leave out -o yaml/,
    exit: 2,
  });
});
