import type { EcosystemKey } from "../ecosystems.ts";

/** The most patterns that an upstream has of a kind. */
export const MAX_PATTERNS = 200;
const FORM = /^[\x21-\x7e]{1,255}$/;

/** What is wrong with a pattern of names; undefined when nothing is. */
export function patternFault(pattern: string): string | undefined {
  return FORM.test(pattern) ? undefined : "must be 1 to 255 characters of ASCII without spaces";
}

/**
 * Whether one of the patterns, in which `*` stands for any characters, is that of the name. Case makes no difference in
 * any ecosystem, so that no spelling gets around a reserved name; in those of PyPI `-`, `_` and `.` neither (PEP 503).
 * Of Maven a name is `group:artifact`, and `com.acme.*` is also the group `com.acme` itself.
 */
export function isNamedBy(patterns: readonly string[], name: string, ecosystem: EcosystemKey): boolean {
  const text = spelled(name, ecosystem);
  return patterns.some((given) => {
    const pattern = spelled(given, ecosystem);
    if (matches(pattern, text)) return true;
    return ecosystem === "maven" && pattern.endsWith(".*") && matches(`${pattern.slice(0, -2)}:*`, text);
  });
}

function spelled(text: string, ecosystem: EcosystemKey): string {
  const lower = text.toLowerCase();
  return ecosystem === "pypi" ? lower.replaceAll(/[-_.]+/g, "-") : lower;
}

/** Each part is looked for after the one before: no backtracking, whatever the pattern. */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
