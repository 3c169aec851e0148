import assert from "node:assert/strict";
import { test } from "node:test";
import { type EcosystemKey, ECOSYSTEMS } from "../ecosystems.ts";
import { isNamedBy } from "./names.ts";

const CASES: readonly [EcosystemKey, pattern: string, named: readonly string[], others: readonly string[]][] = [
  ["npm", "left-pad", ["left-pad", "Left-Pad"], ["left-pads", "a-left-pad", "left_pad"]],
  ["npm", "@acme/*", ["@acme/ui", "@ACME/ui", "@acme/"], ["@acme", "@acme-evil/ui", "acme/ui"]],
  ["npm", "acme-*", ["acme-ui", "acme-"], ["acme", "xacme-ui"]],
  ["npm", "*-acme-*", ["a-acme-b", "-acme-", "a-acme-acme-"], ["acme", "a-acme"]],
  ["npm", "a*b*c", ["abc", "axbxc", "aabbcc"], ["ac", "acb", "ab"]],
  ["npm", "aa*aa", ["aaaa", "aa-aa"], ["aaa", "aa"]],
  ["npm", "*", ["anything", ""], []],
  ["pypi", "Acme_Tools.*", ["acme-tools-x", "ACME.tools_x"], ["acme-toolsx"]],
  ["maven", "com.acme.*", ["com.acme.ui:app", "com.acme:app"], ["com.acmes:app", "org.com.acme:app"]],
  ["maven", "com.acme:app", ["com.acme:app", "COM.acme:App"], ["com.acme:app2", "com.acme.x:app"]],
];

test("a pattern is that of a whole name, whatever its case, by the spelling of its ecosystem", () => {
  for (const [ecosystem, pattern, named, others] of CASES) {
    for (const name of named)
      assert.ok(isNamedBy(["nothing", pattern], name, ECOSYSTEMS[ecosystem]), `${pattern} ${name}`);
    for (const name of others) assert.ok(!isNamedBy([pattern], name, ECOSYSTEMS[ecosystem]), `${pattern} ${name}`);
  }
});

test("a pattern of many stars takes no time", () => {
  assert.ok(!isNamedBy(["*a".repeat(127)], "a".repeat(126) + "b".repeat(10_000), ECOSYSTEMS.npm));
});
