import correct from "spdx-correct";
import parseExpression from "spdx-expression-parse";
import { createLru } from "../../lib/lru.ts";

type Info = ReturnType<typeof parseExpression>;

/** A license pattern of a policy that is none. The message says why, for people. */
export class LicensePatternError extends Error {}

/** What a policy says of licenses. */
export interface LicenseRules {
  allowed: readonly string[];
  denied: readonly string[];
  blocksUnknown: boolean;
}

const PATTERN = /^[A-Za-z0-9.-]+\+?( WITH [A-Za-z0-9.-]+)?\*?$|^\*$/;
// Longer ones take long to read, and a document may have thousands of them.
const MAX_CHARS = 300;
const MAX_KNOWN = 5_000;
const known = createLru<string, Info | "unknown">(MAX_KNOWN);

/** Throws LicensePatternError unless the text is the id of a license, or the beginning of one followed by `*`. */
export function requireLicensePattern(text: string): void {
  if (!PATTERN.test(text)) throw new LicensePatternError("must be an SPDX license id, with * at its end for several");
}

/**
 * Whether the license is against the rules. `license`: as the metadata of a version have it, empty for none. Of an
 * expression with OR one side must be allowed, with AND both. What is no expression of SPDX is taken for the license
 * that is usually meant, such as Apache-2.0 for `Apache License, Version 2.0`.
 */
export function isAgainst(license: string, { allowed, denied, blocksUnknown }: LicenseRules): boolean {
  if (allowed.length === 0 && denied.length === 0 && !blocksUnknown) return false;
  const expression = expressionOf(license);
  if (expression === "unknown") return blocksUnknown;
  return !isAllowed(expression, { allowed, denied });
}

function isAllowed(expression: Info, rules: Pick<LicenseRules, "allowed" | "denied">): boolean {
  if ("conjunction" in expression) {
    const { conjunction, left, right } = expression;
    return conjunction === "or"
      ? isAllowed(left, rules) || isAllowed(right, rules)
      : isAllowed(left, rules) && isAllowed(right, rules);
  }
  const id = `${expression.license}${expression.plus === true ? "+" : ""}`;
  const forms = [
    expression.license,
    id,
    ...(expression.exception === undefined ? [] : [`${id} WITH ${expression.exception}`]),
  ];
  const isIn = (patterns: readonly string[]): boolean =>
    patterns.some((pattern) => forms.some((form) => matches(pattern, form)));
  return !isIn(rules.denied) && (rules.allowed.length === 0 || isIn(rules.allowed));
}

function matches(pattern: string, license: string): boolean {
  const [one, other] = [pattern.toLowerCase(), license.toLowerCase()];
  return one.endsWith("*") ? other.startsWith(one.slice(0, -1)) : one === other;
}

function expressionOf(license: string): Info | "unknown" {
  if (license.length > MAX_CHARS) return "unknown";
  const text = license.trim();
  const found = known.get(text);
  if (found !== undefined) return found;
  const read = parsed(text) ?? parsed(usualLicense(text) ?? "") ?? "unknown";
  known.set(text, read);
  return read;
}

/** npm's word for what nobody may use, which would be taken for the Unlicense. */
const NO_LICENSE = /^unlicensed$/i;
// Guessing goes by parts of words, too: without one of these, "Example License" would be the MPL.
const NAMES_ONE =
  /\b(?:apache|asl|mit|bsd|isc|[la]?gpl(?:v?[0-9.]+)?|gnu|general public|mpl|mozilla|epl|eclipse|edl|cddl|unlicense|boost|zlib|artistic|cc0|eupl|upl|psf|python|ruby|bouncy castle)\b/i;

/** The SPDX id of the license that a text usually means; undefined where it names none. */
export function usualLicense(text: string): string | undefined {
  if (NO_LICENSE.test(text) || text.includes("://") || !NAMES_ONE.test(text)) return undefined;
  return correct(text) ?? undefined;
}

function parsed(text: string): Info | undefined {
  if (text === "") return undefined;
  try {
    return parseExpression(text);
  } catch {
    return undefined;
  }
}
