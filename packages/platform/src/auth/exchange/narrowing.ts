import type { Capability } from "@moorage/api/messages";
import { isUid, isWithin } from "@moorage/kernel/lib/uid";
import type { Caller } from "@moorage/kernel/core/call";
import { type FieldViolation, invalidArgument, permissionDenied } from "@moorage/kernel/errors";
import { capabilityOf } from "../tokens/tokens.ts";

/** What a caller asks a token to be limited to, unchecked. */
export interface NarrowingRequest {
  /** Empty: the platform, or, for a token of this issuer or a refresh token, the audiences of that token. */
  audiences: string[];
  /** Names of capabilities, `CAP_…` or dotted. Empty: not narrowed. */
  capabilities?: string[];
  /** Uids of groups. Empty: not narrowed. */
  scopes?: string[];
}

/** A NarrowingRequest after it was checked. */
export interface Narrowing {
  audiences: string[];
  capabilities?: Capability[];
  scopes?: string[];
}
export interface Audiences {
  platform: string;
  registry: string;
  mcp: string;
}

const MAX_CAPABILITIES = 200;
const MAX_SCOPES = 50;

/**
 * Checks the request. Throws INVALID_ARGUMENT that names `aud`, `cap` and `scopes`. An empty string in a list is an
 * error: ignoring it would widen the token.
 */
export function parseNarrowing(
  { audiences, capabilities = [], scopes = [] }: NarrowingRequest,
  known: Audiences,
): Narrowing {
  const violations: FieldViolation[] = [];
  if (!audiences.every((audience) => Object.values(known).includes(audience))) {
    const { platform, registry, mcp } = known;
    violations.push({ field: "aud", description: `must be ${platform}, ${registry} or ${mcp}` });
  }
  const numbers = capabilities.slice(0, MAX_CAPABILITIES + 1).map(capabilityOf);
  if (numbers.length > MAX_CAPABILITIES)
    violations.push({ field: "cap", description: `must have at most ${MAX_CAPABILITIES} entries` });
  else if (numbers.includes(undefined)) violations.push({ field: "cap", description: "must be names of capabilities" });
  if (scopes.length > MAX_SCOPES)
    violations.push({ field: "scopes", description: `must have at most ${MAX_SCOPES} entries` });
  else if (!scopes.every(isUid)) violations.push({ field: "scopes", description: "must be uids" });
  if (violations.length > 0) throw invalidArgument(...violations);
  return {
    audiences: [...new Set(audiences)],
    ...(capabilities.length > 0 && { capabilities: [...new Set(numbers.filter((one) => one !== undefined))] }),
    ...(scopes.length > 0 && { scopes: [...new Set(scopes)] }),
  };
}

/**
 * The intersection of what the token held and what is requested. Throws PERMISSION_DENIED when the intersection is
 * empty, instead of issuing a token that allows nothing.
 */
export function narrow(
  held: Pick<Caller, "capabilities" | "scopes">,
  wanted: Narrowing,
): Pick<Narrowing, "capabilities" | "scopes"> {
  const capabilities = both(held.capabilities, wanted.capabilities, (one, other) => (one === other ? [one] : []));
  const scopes = both(held.scopes, wanted.scopes, (one, other) =>
    isWithin(one, other) ? [one] : isWithin(other, one) ? [other] : [],
  );
  if (capabilities?.length === 0 || scopes?.length === 0)
    throw permissionDenied("the token allows nothing of what was asked for");
  return { ...(capabilities && { capabilities }), ...(scopes && { scopes }) };
}

function both<T>(held: T[] | undefined, wanted: T[] | undefined, meet: (one: T, other: T) => T[]): T[] | undefined {
  if (!held || !wanted) return held ?? wanted;
  return [...new Set(held.flatMap((one) => wanted.flatMap((other) => meet(one, other))))];
}
