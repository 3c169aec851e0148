import assert from "node:assert/strict";
import test from "node:test";
import { parseGlob } from "./globs.ts";

test("a pattern with stars matches whole names, and is an expression of RE2 for tags", () => {
  for (const [text, expression, yes, no] of [
    ["v*", "v.*", ["v", "v1.2"], ["1v", ""]],
    ["**", ".*", ["", "a/b"], []],
    ["team/*", "team/.*", ["team/app", "team/"], ["team/a/b", "team"]],
    ["team/**", "team/.*", ["team/a/b"], ["other/a"]],
    ["{release,stable}-?", String.raw`(?:release-.|stable-.)`, ["release-1", "stable-2"], ["release-12", "beta-1"]],
    ["1.0+x", String.raw`1\.0\+x`, ["1.0+x"], ["100x"]],
  ] as const) {
    const glob = parseGlob(text);
    assert.equal(glob?.expression, expression);
    for (const name of yes) assert.ok(glob?.matches(name), `${text} ${name}`);
    for (const name of no) assert.ok(!glob?.matches(name), `${text} ${name}`);
  }
});

test("what has more than stars, a question mark and braces is no pattern here", () => {
  for (const text of [
    "",
    "[a-z]*",
    "a{b",
    "a}b{",
    "{a,{b,c}}",
    String.raw`a\*`,
    "!v*",
    "{a,b}".repeat(7),
    "a".repeat(600),
  ])
    assert.equal(parseGlob(text), undefined, text);
});

test("a pattern made to be slow takes no longer than its length for each character", () => {
  const glob = parseGlob("*a".repeat(250));
  assert.equal(glob?.matches("a".repeat(511) + "b"), false);
});
