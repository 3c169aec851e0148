import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ClaimMatch, Identity, StaticKeys } from "@moorage/api";
import { compilePattern } from "../base/patterns.ts";
import { parseJson } from "../base/json.ts";
import { usableKeys, type VerificationKey } from "../base/jwks.ts";
import { audiencesOf } from "./jwt.ts";

export type Relationship = Identity["relationship"];
type Claims = Record<string, unknown>;

/**
 * Why the relationship does not accept these claims; undefined when it does. It judges claims alone: the times and the signature are
 * verified apart. The reason is for the log, never for the caller. Source: contract §3, §7.
 */
export function mismatch(relationship: Relationship, claims: Claims, ownAudience: string, nowMs: number): string | undefined {
  switch (relationship.case) {
    case "claimMatch": return claimMismatch(relationship.value, claims, ownAudience);
    case "staticKeys": return staticMismatch(relationship.value, claims, ownAudience, nowMs);
    case undefined: return "the identity has no relationship";
    default: return "identities of this relationship cannot be assumed yet";
  }
}

/** The keys given with the identity itself. */
export function staticKeys({ issuerKeys }: StaticKeys): VerificationKey[] {
  return usableKeys(parseJson(issuerKeys, 8));
}

/** When the relationship stops accepting anything, in milliseconds since 1970. */
export function endOf(relationship: Relationship): number {
  return relationship.case === "staticKeys" && relationship.value.expirationTime ? timestampMs(relationship.value.expirationTime) : Infinity;
}

function claimMismatch({ iss, sub, aud, claims: exact, claimPatterns }: ClaimMatch, claims: Claims, ownAudience: string): string | undefined {
  if (!agrees(iss.case === "issuerPattern", iss.value, claims["iss"])) return "another issuer";
  if (!agrees(sub.case === "subjectPattern", sub.value, claims["sub"])) return "another subject";
  const audience = aud.case === undefined ? ownAudience : aud.value;
  if (!audiencesOf(claims).some((one) => agrees(aud.case === "audiencePattern", audience, one))) return "another audience";
  for (const [name, value] of Object.entries(exact)) if (textOf(claims, name) !== value) return "another claim";
  for (const [name, pattern] of Object.entries(claimPatterns)) if (!agrees(true, pattern, textOf(claims, name))) return "another claim";
  return undefined;
}

function staticMismatch({ issuer, subject, audiences, expirationTime }: StaticKeys, claims: Claims, ownAudience: string, nowMs: number): string | undefined {
  if (expirationTime && timestampMs(expirationTime) <= nowMs) return "the keys have expired";
  if (!agrees(false, issuer, claims["iss"])) return "another issuer";
  if (!agrees(false, subject, claims["sub"])) return "another subject";
  const accepted = audiences.length === 0 ? [ownAudience] : audiences;
  return audiencesOf(claims).some((one) => accepted.includes(one)) ? undefined : "another audience";
}

/** An absent or empty expectation agrees with nothing, and nothing but text agrees. */
function agrees(pattern: boolean, expected: string | undefined, found: unknown): boolean {
  if (typeof found !== "string" || !expected) return false;
  return pattern ? compilePattern(expected).matches(found) : found === expected;
}

/** A claim as text: numbers and booleans as JSON writes them. Objects, lists and null have none, and so match nothing. */
function textOf(claims: Claims, name: string): string | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? JSON.stringify(value) : undefined;
}
