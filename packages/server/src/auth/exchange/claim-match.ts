import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ClaimMatch, Identity, StaticKeys } from "@moorage/api";
import { compilePattern } from "../../lib/patterns.ts";
import { parseJson } from "../../lib/json.ts";
import { usableKeys, type VerificationKey } from "../../lib/jwks.ts";
import { audiencesOf, timeFault } from "../tokens/jwt.ts";
import type { RejectionReason, Refused } from "./rejections.ts";

export type Relationship = Identity["relationship"];
type Claims = Record<string, unknown>;

/**
 * Whether the relationship accepts tokens of the token's issuer at all: only then is anybody asked for keys, and only
 * then may the answer to a token that the issuer signed say more than that it is not accepted. Relationships that
 * cannot be assumed name no issuer.
 */
export function namesIssuer(relationship: Relationship, { iss: issuer }: Claims): boolean {
  switch (relationship.case) {
    case "claimMatch":
      return agrees(relationship.value.iss.case === "issuerPattern", relationship.value.iss.value, issuer);
    case "staticKeys":
      return agrees(false, relationship.value.issuer, issuer);
    default:
      return false;
  }
}

/**
 * Why the relationship does not accept these claims of a token whose issuer it names and whose signature is verified;
 * undefined when it does. The audience comes first: who shows a token that was made for another place is told no more
 * than that. Source: contract §3, §7.
 */
export function mismatch(
  relationship: Relationship,
  claims: Claims,
  ownAudience: string,
  nowMs: number,
): Refused | undefined {
  if (!acceptsAudience(relationship, claims, ownAudience)) return refused("AUDIENCE", "aud");
  const time = timeFault(claims, nowMs);
  if (time !== undefined) return refused(time === "exp" ? "EXPIRED" : "NOT_YET_VALID", time);
  if (endOf(relationship) <= nowMs) return refused("KEYS_EXPIRED", "");
  const claim =
    relationship.case === "claimMatch"
      ? claimMismatch(relationship.value, claims)
      : relationship.case === "staticKeys"
        ? staticMismatch(relationship.value, claims)
        : "iss";
  return claim === undefined ? undefined : refused("CLAIM", claim);
}

function refused(reason: RejectionReason, claim: string): Refused {
  return { reason, claim, why: "the token does not fit the identity" };
}

/** The keys given with the identity itself. */
export function staticKeys({ issuerKeys }: StaticKeys): VerificationKey[] {
  return usableKeys(parseJson(issuerKeys, 8));
}

/** When the relationship stops accepting anything, in milliseconds since 1970. */
export function endOf(relationship: Relationship): number {
  return relationship.case === "staticKeys" && relationship.value.expirationTime
    ? timestampMs(relationship.value.expirationTime)
    : Infinity;
}

function acceptsAudience(relationship: Relationship, claims: Claims, ownAudience: string): boolean {
  const found = audiencesOf(claims);
  if (relationship.case === "staticKeys") {
    const { audiences } = relationship.value;
    return found.some((one) => (audiences.length === 0 ? [ownAudience] : audiences).includes(one));
  }
  if (relationship.case !== "claimMatch") return false;
  const { aud } = relationship.value;
  return found.some((one) =>
    agrees(aud.case === "audiencePattern", aud.case === undefined ? ownAudience : aud.value, one),
  );
}

/** The name of the first claim that does not fit. */
function claimMismatch({ sub, claims: exact, claimPatterns }: ClaimMatch, claims: Claims): string | undefined {
  if (!agrees(sub.case === "subjectPattern", sub.value, claims["sub"])) return "sub";
  for (const [name, value] of Object.entries(exact)) if (textOf(claims, name) !== value) return name;
  for (const [name, pattern] of Object.entries(claimPatterns))
    if (!agrees(true, pattern, textOf(claims, name))) return name;
  return undefined;
}

function staticMismatch({ subject }: StaticKeys, claims: Claims): string | undefined {
  return agrees(false, subject, claims["sub"]) ? undefined : "sub";
}

/** An absent or empty expectation agrees with nothing, and nothing but text agrees. */
function agrees(pattern: boolean, expected: string | undefined, found: unknown): boolean {
  if (typeof found !== "string" || !expected) return false;
  return pattern ? compilePattern(expected).matches(found) : found === expected;
}

/**
 * A claim as text: numbers and booleans as JSON writes them. Objects, lists and null have none, and so match nothing.
 */
function textOf(claims: Claims, name: string): string | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? JSON.stringify(value) : undefined;
}
