import { isObject } from "@moorage/kernel/lib/json";
import { own, textOf } from "./token-values.ts";

/** What a token says about the groups of a person. */
export interface TokenGroups {
  /** Without duplicates. */
  groups: string[];
  /** What of the groups is not there, in words, such as that the provider left them out; empty for nothing. */
  groupsLeftOut: string;
  /** Whether the token lacks the claim that the provider's groups are read from. */
  lacksGroups: boolean;
}

const MAX_GROUP_CHARS = 256;
const MAX_GROUPS = 5_000;
const MAX_PATH_PARTS = 8;

/**
 * The groups in a token's claim of that name: a list of texts, or one text; and in words what of them is not there. An
 * empty name is that of no claim.
 */
export function groupsOf(name: string, claims: Record<string, unknown>): TokenGroups {
  const none = { groups: [], groupsLeftOut: "", lacksGroups: false };
  if (name === "") return none;
  const value = claimNamed(name, claims);
  if (isOverage(name, claims) && !Array.isArray(value))
    return {
      ...none,
      groupsLeftOut: `all groups: the person is in more than the provider writes into a token, so that the claim ${name} is left out (overage)`,
    };
  if (value === undefined || value === null) return { ...none, lacksGroups: true };
  if (!Array.isArray(value) && typeof value !== "string")
    return { ...none, groupsLeftOut: `the claim ${name} is neither a list nor text` };
  const values: unknown[] = Array.isArray(value) ? value : [value];
  const read = values.slice(0, MAX_GROUPS).map((one) => textOf(one, MAX_GROUP_CHARS));
  const groups = [...new Set(read.filter((one) => one !== undefined))];
  const wrong = read.filter((one) => one === undefined).length;
  const left = [
    ...(values.length > MAX_GROUPS ? [`${values.length - MAX_GROUPS} groups beyond the first ${MAX_GROUPS}`] : []),
    ...(wrong > 0
      ? [`${wrong} entries of the claim ${name} that are not text of 1 to ${MAX_GROUP_CHARS} characters`]
      : []),
  ];
  return { groups, groupsLeftOut: left.join("; "), lacksGroups: false };
}

/**
 * The claim of exactly that name, such as `https://example.com/groups`, or else the one at the end of a path into
 * objects, such as `realm_access.roles`. Names on a path may have dots of their own.
 */
function claimNamed(name: string, claims: Record<string, unknown>): unknown {
  const exact = own(claims, name);
  if (exact !== undefined) return exact;
  const parts = name.split(".");
  return parts.length > MAX_PATH_PARTS ? undefined : atPath(parts, claims);
}

function atPath(parts: readonly string[], claims: Record<string, unknown>): unknown {
  for (let length = parts.length; length > 0; length -= 1) {
    const value = own(claims, parts.slice(0, length).join("."));
    if (length === parts.length && value !== undefined) return value;
    const below = isObject(value) ? atPath(parts.slice(length), value) : undefined;
    if (below !== undefined) return below;
  }
  return undefined;
}

/**
 * Whether the provider says that it left the groups out because there are too many. Source: OpenID Connect Core 1.0
 * §5.6.2, and the claims `hasgroups` and `groups:src1` of Microsoft's tokens.
 */
function isOverage(name: string, claims: Record<string, unknown>): boolean {
  const elsewhere = own(claims, "_claim_names");
  const has = own(claims, "hasgroups");
  return (isObject(elsewhere) && Object.hasOwn(elsewhere, name)) || has === true || has === "true";
}
