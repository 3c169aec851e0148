import type { ClaimMatch, Identity, StaticKeys } from "@moorage/api/messages";
import { ExactNumber, parseJson } from "@moorage/kernel/lib/json";
import { usableKeys, type VerificationKey } from "@moorage/kernel/lib/jwks";
import { createLru } from "@moorage/kernel/lib/lru";
import { endOf } from "../../iam/index.ts";
import { audiencesOf, timeFault } from "../tokens/jwt.ts";
import type { PatternMatcher } from "./pattern-budget.ts";
import type { RejectionReason, TokenRejection } from "../token-rejection.ts";

export type Relationship = Identity["relationship"];
type Claims = Record<string, unknown>;

/**
 * Whether the relationship names the token's issuer. Only then is that issuer asked for its keys, and only then may the
 * answer to a token that the issuer signed say more than that it is not accepted. Relationships that cannot be assumed
 * name no issuer.
 */
export async function namesIssuer(
  relationship: Relationship,
  { iss: issuer }: Claims,
  matches: PatternMatcher,
): Promise<boolean> {
  switch (relationship.case) {
    case "claimMatch": {
      const { iss } = relationship.value;
      return iss.case === "issuerPattern" ? await fits(matches, iss.value, issuer) : equals(iss.value, issuer);
    }
    case "staticKeys":
      return equals(relationship.value.issuer, issuer);
    default:
      return false;
  }
}

/** Whether a pattern says which issuers the relationship names. */
export function hasIssuerPattern(relationship: Relationship): boolean {
  return relationship.case === "claimMatch" && relationship.value.iss.case === "issuerPattern";
}

/**
 * Why the relationship does not accept the claims; undefined when it does. Expects that the relationship names the
 * token's issuer and that the signature is verified. The audience is compared first: for a token that was issued for
 * another service nothing else is reported. Source: docs/contract.md, "Authentication".
 */
export async function mismatch(
  relationship: Relationship,
  claims: Claims,
  ownAudiences: readonly string[],
  nowMs: number,
  matches: PatternMatcher,
): Promise<TokenRejection | undefined> {
  if (!(await acceptsAudience(relationship, claims, ownAudiences, matches))) return rejected("AUDIENCE", "aud");
  const time = timeFault(claims, nowMs);
  if (time !== undefined) return rejected(time === "exp" ? "EXPIRED" : "NOT_YET_VALID", time);
  if (endOf(relationship) <= nowMs) return rejected("KEYS_EXPIRED", "");
  const claim =
    relationship.case === "claimMatch"
      ? await claimMismatch(relationship.value, claims, matches)
      : relationship.case === "staticKeys"
        ? staticMismatch(relationship.value, claims)
        : "iss";
  return claim === undefined ? undefined : rejected("CLAIM", claim);
}

function rejected(reason: RejectionReason, claim: string): TokenRejection {
  return { reason, claim, why: "the token does not fit the identity" };
}

const MAX_KEYS_LENGTH = 2 ** 22;
const parsedKeys = createLru<string, { text: string; keys: VerificationKey[] }>(
  MAX_KEYS_LENGTH,
  ({ text }) => text.length,
);

/** The verification keys that are part of the identity itself. The same text gives the same keys. */
export function staticKeys({ issuerKeys: text }: StaticKeys): VerificationKey[] {
  const known = parsedKeys.get(text);
  if (known !== undefined) return known.keys;
  const keys = usableKeys(parseJson(text, 8));
  parsedKeys.set(text, { text, keys });
  return keys;
}

/**
 * The audiences of an identity that names none: the URL of the installation, and its host[:port] without the scheme, as
 * it stands in the tokens of issuers that take no URL as an audience.
 */
export function ownAudiencesOf(baseUrl: string): readonly string[] {
  return [baseUrl, new URL(baseUrl).host];
}

async function acceptsAudience(
  relationship: Relationship,
  claims: Claims,
  ownAudiences: readonly string[],
  matches: PatternMatcher,
): Promise<boolean> {
  const found = audiencesOf(claims);
  if (relationship.case === "staticKeys") {
    const { audiences } = relationship.value;
    return found.some((one) => (audiences.length === 0 ? ownAudiences : audiences).includes(one));
  }
  if (relationship.case !== "claimMatch") return false;
  const { aud } = relationship.value;
  if (aud.case === undefined) return found.some((one) => ownAudiences.includes(one));
  if (aud.case === "audience") return found.some((one) => equals(aud.value, one));
  for (const one of found) if (await fits(matches, aud.value, one)) return true;
  return false;
}

/** The name of the first claim that does not match; undefined when all do. */
async function claimMismatch(
  { sub, claims: exact, claimPatterns }: ClaimMatch,
  claims: Claims,
  matches: PatternMatcher,
): Promise<string | undefined> {
  const isSubject =
    sub.case === "subjectPattern" ? await fits(matches, sub.value, claims["sub"]) : equals(sub.value, claims["sub"]);
  if (!isSubject) return "sub";
  for (const [name, value] of Object.entries(exact)) if (!textsOf(claims, name).includes(value)) return name;
  for (const [name, pattern] of Object.entries(claimPatterns))
    if (!(await fitsOne(matches, pattern, textsOf(claims, name)))) return name;
  return undefined;
}

async function fitsOne(matches: PatternMatcher, pattern: string, texts: readonly string[]): Promise<boolean> {
  for (const text of texts) if (await fits(matches, pattern, text)) return true;
  return false;
}

function staticMismatch({ subject }: StaticKeys, claims: Claims): string | undefined {
  return equals(subject, claims["sub"]) ? undefined : "sub";
}

/** Whether both are the same text; an absent or empty expectation equals nothing. */
function equals(expected: string | undefined, found: unknown): boolean {
  return found === expected && typeof found === "string" && found !== "";
}

/** Whether the pattern matches the claim; an empty pattern matches nothing, and only strings match. */
async function fits(matches: PatternMatcher, pattern: string, found: unknown): Promise<boolean> {
  return typeof found === "string" && pattern !== "" && (await matches(pattern, found));
}

/**
 * A claim as texts, of which one has to match: the elements of a list, and otherwise the claim itself. Numbers and
 * booleans are as JSON writes them, large numbers as the token does. Objects, null and lists in lists are left out.
 */
function textsOf(claims: Claims, name: string): string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return (Array.isArray(value) ? value : [value]).flatMap((one: unknown) => textOf(one) ?? []);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (value instanceof ExactNumber) return value.text;
  return typeof value === "number" || typeof value === "boolean" ? JSON.stringify(value) : undefined;
}
