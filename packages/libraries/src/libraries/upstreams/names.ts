import { wildcard } from "@moorage/kernel/lib/wildcard";
import type { Ecosystem } from "../ecosystem/ecosystem.ts";

/** The most patterns that an upstream has of a kind. */
export const MAX_PATTERNS = 200;
const FORM = /^[\x21-\x7e]{1,255}$/;

/** What is wrong with a pattern of names; undefined when nothing is. */
export function patternFault(pattern: string): string | undefined {
  return FORM.test(pattern) ? undefined : "must be 1 to 255 characters of ASCII without spaces";
}

/**
 * Whether one of the patterns, in which `*` stands for any characters, is that of the name, as the ecosystem compares
 * them, so that no spelling gets around a reserved name.
 */
export function isNamedBy(patterns: readonly string[], name: string, { names }: Pick<Ecosystem, "names">): boolean {
  const text = names.comparable(name);
  return patterns.some((given) => {
    const pattern = names.comparable(given);
    return [pattern, ...(names.alsoMeant?.(pattern) ?? [])].some((each) => wildcard(each).matches(text));
  });
}
