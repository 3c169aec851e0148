/**
 * Parses untrusted JSON. Objects and arrays nested deeper than `maxDepth`, and more of values than `maxValues`, are
 * rejected before they are built. `revive`: as that of JSON.parse. Throws a SyntaxError.
 */
export function parseJson(text: string, maxDepth: number, maxValues = Infinity, revive?: Revive): unknown {
  const problem = excessOf(text, maxDepth, maxValues);
  if (problem !== undefined) throw new SyntaxError(problem);
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]) as unknown;
}

/** Whether untrusted JSON has more than `max` values: members of objects, elements of arrays, and these themselves. */
export function hasMoreValues(text: string, max: number): boolean {
  return excessOf(text, Infinity, max) !== undefined;
}

/** What there is too much of, seen without building anything; text that is not JSON may pass. */
function excessOf(text: string, maxDepth: number, maxValues: number): string | undefined {
  let depth = 0;
  let values = 1;
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (quoted) {
      if (unit === 0x5c) index += 1;
      else if (unit === 0x22) quoted = false;
    } else if (unit === 0x22) quoted = true;
    else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > maxDepth) return "nested too deeply";
      values += 1;
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
    else if (unit === 0x2c) values += 1;
    if (values > maxValues) return "too many values";
  }
  return undefined;
}

type Revive = (name: string, value: unknown, context: { source?: string }) => unknown;

/** A number of JSON that JavaScript's own numbers cannot hold, as it is written; in JSON it is this text. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): string {
    return this.text;
  }
}

// Numbers of so many digits survive JavaScript's.
const SAFE_DIGITS = 15;

/**
 * For `parseJson`: whole numbers beyond 2^53, and numbers that are too large for JavaScript, as ExactNumber. All other
 * values as they are.
 */
export const exactNumber: Revive = (_, value, { source = "" }) => {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const isLost = !Number.isFinite(value) || (Number.isInteger(value) && digitsIn(source) > SAFE_DIGITS);
  return isLost ? new ExactNumber(source) : value;
};

/** How many digits the number has before its exponent, without zeros in front. */
function digitsIn(source: string): number {
  let digits = 0;
  for (const unit of source) {
    if (unit === "e" || unit === "E") break;
    if (unit >= "0" && unit <= "9" && (digits > 0 || unit !== "0")) digits += 1;
  }
  return digits;
}

/** Whether the value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether the value is a JSON array, of whatever. */
export function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}
