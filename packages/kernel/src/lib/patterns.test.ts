import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { compilePattern, PatternError } from "./patterns.ts";

test("a pattern must match the whole value", () => {
  for (const [pattern, good, bad] of [
    ["a|b", ["a", "b"], ["ab", "ba", "xa", "bx", ""]],
    ["a|ab", ["a", "ab"], ["abb"]],
    ["a$", ["a"], ["a\n", "a\nb"]],
    ["(?m)^a$", ["a"], ["a\nb", "b\na"]],
    ["(?m:a$)", ["a"], ["a\nb"]],
    ["^main", ["main"], ["main2"]],
    [".*", ["", "abc"], ["a\nb"]],
    ["(?i)main", ["MAIN"], ["MAINS"]],
    ["", [""], ["a"]],
  ] as [string, string[], string[]][]) {
    for (const text of good) assert.ok(compilePattern(pattern).matches(text), `${pattern} ${text}`);
    for (const text of bad) assert.ok(!compilePattern(pattern).matches(text), `${pattern} ${text}`);
  }
});

test("a pattern that is valid only inside other parentheses, or compiles to a large program, is rejected", () => {
  for (const bad of [
    "a)|(b",
    ")",
    "(",
    "[",
    "a\\",
    "\\Qa",
    "*",
    "a{1001}",
    "(?=a)",
    "(a)\\1",
    "x".repeat(2_049),
    "(.{1000})".repeat(50),
  ])
    assert.throws(() => compilePattern(bad), PatternError, bad);
});

test("patterns that defeat backtracking engines take no longer than others", () => {
  for (const pattern of ["(x+x+)+y", "((a*)*)*b", "(a|a)*c"])
    assert.ok(!compilePattern(pattern).matches("x".repeat(10_000)));
});

test("what takes more than 1.28 million steps matches nothing, and every pattern can be matched with a tag", () => {
  const short = compilePattern("x*");
  const length = Math.floor(1_280_000 / short.steps);
  assert.ok(short.matches("x".repeat(length)));
  assert.ok(!short.matches("x".repeat(length + 1)), "over the bound nothing matches");
  // Compiled with 10,000 steps, which took 3.5 s for a text of 16 KiB.
  const large = compilePattern("x{0,900}".repeat(5));
  assert.ok(large.steps > 8_000, `${large.steps}`);
  assert.ok(large.matches("x".repeat(128)));
  assert.ok(!large.matches("x".repeat(4_000)));
  assert.equal(large.costOf("x".repeat(10)), 10 * large.steps);
});

test("an escaped literal matches only itself", () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1 }), (text, more) => {
      const escaped = text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
      const pattern = compilePattern(escaped);
      assert.ok(pattern.matches(text));
      assert.ok(!pattern.matches(text + more) && !pattern.matches(more + text));
    }),
  );
});
