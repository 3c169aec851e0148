import correct from "spdx-correct";
import parseExpression from "spdx-expression-parse";
import { createLru } from "@moorage/kernel/lib/lru";

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
/** No license is called by more than this: longer free text is not guessed at. */
const MAX_NAME_CHARS = 120;
const MAX_KNOWN = 5_000;
const known = createLru<string, Info | "unknown">(MAX_KNOWN);

/** Throws LicensePatternError unless the text is the id of a license, or the beginning of one followed by `*`. */
export function requireLicensePattern(text: string): void {
  if (!PATTERN.test(text)) throw new LicensePatternError("must be an SPDX license id, with * at its end for several");
}

/** Whether a license is against the rules: as `licenseJudge`, for one. */
export function isAgainst(license: string, rules: LicenseRules): boolean {
  return licenseJudge(rules)(license);
}

/**
 * Says of licenses whether they are against the rules. A license: as the metadata of a version have it, empty for none.
 * Of an expression with OR one side must be allowed, with AND both. Text that is not an SPDX expression is taken for
 * the license that is usually meant, such as Apache-2.0 for `Apache License, Version 2.0`. The time is linear in the
 * length of the license, whatever the number of rules.
 */
export function licenseJudge({ allowed, denied, blocksUnknown }: LicenseRules): (license: string) => boolean {
  if (allowed.length === 0 && denied.length === 0 && !blocksUnknown) return () => false;
  const [isAllowed, isDenied] = [matcherOf(allowed), matcherOf(denied)];
  const passes = (expression: Info): boolean => {
    if ("conjunction" in expression) {
      const { conjunction, left, right } = expression;
      return conjunction === "or" ? passes(left) || passes(right) : passes(left) && passes(right);
    }
    const id = `${expression.license}${expression.plus === true ? "+" : ""}`;
    const forms = [
      expression.license,
      id,
      ...(expression.exception === undefined ? [] : [`${id} WITH ${expression.exception}`]),
    ];
    return !forms.some(isDenied) && (allowed.length === 0 || forms.some(isAllowed));
  };
  return (license) => {
    const expression = expressionOf(license);
    return expression === "unknown" ? blocksUnknown : !passes(expression);
  };
}

/** Whether a text is one of the patterns, or begins as one that ends with `*`. */
function matcherOf(patterns: readonly string[]): (text: string) => boolean {
  const exact = new Set<string>();
  const beginnings = new Set<string>();
  for (const pattern of patterns) {
    const text = pattern.toLowerCase();
    if (text.endsWith("*")) beginnings.add(text.slice(0, -1));
    else exact.add(text);
  }
  return (text) => {
    const lower = text.toLowerCase();
    if (exact.has(lower)) return true;
    if (beginnings.size > 0)
      for (let end = 0; end <= lower.length; end += 1) if (beginnings.has(lower.slice(0, end))) return true;
    return false;
  };
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
  if (text.length > MAX_NAME_CHARS) return undefined;
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
