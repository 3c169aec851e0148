import { RE2JS } from "re2js";
import { createLru } from "./lru.ts";

/** A user's regular expression that must match the whole value. */
export interface Pattern {
  /** Whether it matches. False for a text for which `costOf` is over 1.28 million. */
  matches(text: string): boolean;
  /** Whether the text is one that `matches` does not look at, since that would take too many steps. */
  isTooLong(text: string): boolean;
  /** The maximum number of steps that matching the text takes: those of the pattern for each character. */
  costOf(text: string): number;
  /** The maximum number of steps it takes for each character of a text. */
  steps: number;
}

/** Why a pattern is rejected; the message may be shown to the pattern's author. */
export class PatternError extends Error {}

const MAX_PATTERN_LENGTH = 2048;
const MAX_PROGRAM_SIZE = 10_000;
// RE2 takes time proportional to program size times text length, at about ten million steps a second for patterns made
// to be slow. Every pattern that compiles can be matched against a whole tag name, which has 128 characters at most.
const MAX_COST = MAX_PROGRAM_SIZE * 128;
const cache = createLru<string, Pattern>(500);

/**
 * Compiles RE2 syntax, which has no backtracking. The pattern must match the WHOLE value, whatever alternations or
 * flags it has: `a|b` does not match `ab`, and `$` does not match before a newline. Throws a PatternError for a pattern
 * that does not compile, or whose program is too large.
 */
export function compilePattern(pattern: string): Pattern {
  const known = cache.get(pattern);
  if (known) return known;
  if (pattern.length > MAX_PATTERN_LENGTH) throw new PatternError(`is longer than ${MAX_PATTERN_LENGTH} characters`);
  // First without the wrapping: `a)|(b` would be valid only inside the parentheses added below.
  compile(pattern);
  const whole = compile(`^(?:${pattern})$`);
  const steps = whole.programSize();
  if (steps > MAX_PROGRAM_SIZE) throw new PatternError("is too complex");
  const costOf = (text: string): number => steps * text.length;
  const compiled: Pattern = {
    steps,
    costOf,
    isTooLong: (text) => costOf(text) > MAX_COST,
    matches: (text) => costOf(text) <= MAX_COST && whole.testExact(text),
  };
  cache.set(pattern, compiled);
  return compiled;
}

/** Whether `compilePattern` has the pattern at hand; compiling takes as long as matching a long text. */
export function isCompiled(pattern: string): boolean {
  return cache.get(pattern) !== undefined;
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw new PatternError("is not a valid RE2 regular expression", { cause: error });
  }
}
