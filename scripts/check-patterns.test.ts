import assert from "node:assert/strict";
import { test } from "node:test";
import { checkPatterns } from "./check-patterns.ts";

const NONE = { unjudged: {}, dynamic: {} };
const check = (code: string, exceptions = NONE, file = "packages/server/src/a.ts"): Promise<string[]> =>
  checkPatterns(new Map([[file, code]]), exceptions);

test("a quadratic or exponential expression fails the check, wherever and however it is written", async () => {
  const field = "^([A-Za-z0-9-]+):[ \\t]*(.*)$";
  const cases: [string, RegExp][] = [
    [`const FIELD = /${field}/;`, /a\.ts:1: .* takes time of 2nd degree polynomial in the text, such as /],
    [`\n\nexport const x = (text: string): boolean => /^(a|a)*$/.test(text);`, /a\.ts:3: .* takes time of exponential/],
    [`const p = new RegExp("\\\\s+$", "g");`, /\/\\s\+\$\/g takes time/],
    [`const END = /\\s+$/; const p = RegExp(\`x?\${END.source}\`);`, /x\?\\s\+\$\/ takes time/],
    [`const BLANKS = "\\\\s+"; const p = new RegExp(BLANKS + "$");`, /takes time/],
    [`const at = (text: string): number => text.search("\\\\s+$");`, /takes time/],
    [`// Cut to 20 characters.\nconst x = (text: string): string => text.replace(/\\s+$/, "");`, /takes time/],
    [`const x = (text: string): string => text.slice(0, 5_000).replace(/\\s+$/, "");`, /5000 characters are too many/],
    [`const x = (text: string): boolean => /^(a|a)*$/.test(text.slice(0, 20));`, /exponential/],
    [`const x = (text: string): string => text.slice(1, 20).replace(/\\s+$/, "");`, /cut the text right there/],
  ];
  for (const [code, problem] of cases) {
    const problems = await check(code);
    assert.match(problems.join("\n"), problem, code);
  }
});

test("a linear expression passes, and so does a quadratic one on text that is cut right there", async () => {
  for (const code of [
    "const x = /^[a-z]+$/i;",
    "const x = (text: string): RegExpExecArray | null => /\\s+$/.exec(text.slice(0, 200));",
    'const MAX = 2_000; const x = (text: string): string => text.slice(0, MAX).replace(/\\s+$/, "");',
  ])
    assert.deepEqual(await check(code), [], code);
});

test("a pattern that only the running program knows, or that nobody can judge, needs an exception with a reason", async () => {
  const dynamic = "export const of = (key: string): RegExp => new RegExp(`^${key}$`); export const x = /a/;";
  assert.match((await check(dynamic)).join(), /a\.ts:1: makes a pattern that nobody can judge/);
  const allowed = { ...NONE, dynamic: { "packages/server/src/a.ts": "keys are ours" } };
  assert.deepEqual(await check(dynamic, allowed), []);
  assert.match(
    (await check("const x = /a/;", allowed)).join(),
    /the exception packages\/server\/src\/a\.ts is needed no longer/,
  );
  const unjudged = "const x = /(?<!a{2})[\\w--b]/v;";
  assert.match((await check(unjudged)).join(), /cannot be judged/);
  assert.deepEqual(await check(unjudged, { ...NONE, unjudged: { "/(?<!a{2})[\\w--b]/v": "two characters" } }), []);
});

test("patterns of fields are judged, and sources without any are an error of the check", async () => {
  const rule = 'message A {\n  string a = 1 [(moorage.common.rule) = {\n    pattern: "(a+)+\\\\.x"\n  }];\n}';
  assert.match(
    (await check(rule, NONE, "proto/moorage/a.proto")).join(),
    /a\.proto:3: .*\(a\+\)\+\\\.x.* takes time of exponential/,
  );
  assert.deepEqual(await check("export {};"), ["no pattern was found"]);
});
