// A claim match in words.
import type { FormMatch } from "./form.ts";

/** One condition of a claim match: what a claim of a token must be. */
export interface Condition {
  /** The claim's name, such as `sub`. */
  readonly claim: string;
  /** `is` for exactly that value, `matches` for a pattern. */
  readonly by: "is" | "matches";
  readonly value: string;
}

/** A claim match as the API has it: with each value or its pattern, or neither. */
export type AnyMatch = Partial<FormMatch> & { readonly issuerPattern?: string; readonly audiencePattern?: string };

/** What a token must have for a claim match to accept it, issuer, subject and audience first. */
export function conditionsOf(match: AnyMatch): Condition[] {
  const { issuer, issuerPattern, subject, subjectPattern, audience, audiencePattern } = match;
  const one = (claim: string, exact?: string, pattern?: string): Condition[] =>
    exact ? [{ claim, by: "is", value: exact }] : pattern ? [{ claim, by: "matches", value: pattern }] : [];
  const aud = one("aud", audience, audiencePattern);
  return [
    ...one("iss", issuer, issuerPattern),
    ...one("sub", subject, subjectPattern),
    ...(aud.length > 0 ? aud : [{ claim: "aud", by: "is", value: "the URL or host name of this server" } as const]),
    ...Object.entries(match.claims ?? {}).flatMap(([claim, value]) => one(claim, value)),
    ...Object.entries(match.claimPatterns ?? {}).flatMap(([claim, value]) => one(claim, undefined, value)),
  ];
}
