import { RE2JS } from "re2js";
import { createLru } from "./lru.ts";

/** A user's regular expression that must match the whole value. */
export interface Pattern {
  matches(text: string): boolean;
  /** The maximum number of steps it takes for each character of a text. */
  steps: number;
}

/** Why a pattern is rejected; the message may be shown to the pattern's author. */
export class PatternError extends Error {}

const MAX_PATTERN_LENGTH = 2048;
// RE2 takes time proportional to program size times text length: with 10,000 steps a character, 16 KiB of text take
// well under a second.
const MAX_PROGRAM_SIZE = 10_000;
const MAX_TEXT_LENGTH = 16_384;
const cache = createLru<string, Pattern>(500);

/**
 * Compiles RE2 syntax, which has no backtracking. The pattern must match the WHOLE value, whatever alternations or
 * flags it has: `a|b` does not match `ab`, and `$` does not match before a newline. Texts over 16 KiB match nothing.
 * Throws a PatternError for a pattern that does not compile, or whose program is too large.
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
  const compiled: Pattern = { steps, matches: (text) => text.length <= MAX_TEXT_LENGTH && whole.testExact(text) };
  cache.set(pattern, compiled);
  return compiled;
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw new PatternError("is not a valid RE2 regular expression", { cause: error });
  }
}
