/**
 * Parses untrusted JSON. Objects and arrays nested deeper than `maxDepth`, and more of values than `maxValues`, are
 * rejected before they are built. Throws a SyntaxError.
 */
export function parseJson(text: string, maxDepth: number, maxValues = Infinity): unknown {
  const problem = excessOf(text, maxDepth, maxValues);
  if (problem !== undefined) throw new SyntaxError(problem);
  return JSON.parse(text) as unknown;
}

/** Whether untrusted JSON has more than `max` values: members of objects, elements of arrays, and these themselves. */
export function hasMoreValues(text: string, max: number): boolean {
  return excessOf(text, Infinity, max) !== undefined;
}

/** What there is too much of, told without building anything; text that is no JSON may pass. */
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

/** Whether the value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
