import { wildcard } from "../../lib/wildcard.ts";
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
    if (wildcard(pattern).matches(text)) return true;
    return ecosystem === "maven" && pattern.endsWith(".*") && wildcard(`${pattern.slice(0, -2)}:*`).matches(text);
  });
}

function spelled(text: string, ecosystem: EcosystemKey): string {
  const lower = text.toLowerCase();
  return ecosystem === "pypi" ? lower.replaceAll(/[-_.]+/g, "-") : lower;
}
