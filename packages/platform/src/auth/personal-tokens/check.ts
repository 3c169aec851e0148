import { Capability, type PersonalToken, PersonalTokenSchema } from "@moorage/api/messages";
import { timeViolations } from "@moorage/kernel/aip/times";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { isUid } from "@moorage/kernel/lib/uid";
import { capabilityText } from "../tokens/tokens.ts";

/** What a new personal token is to be, after it was checked. */
interface Checked {
  name: string;
  capabilities: Capability[];
  groups: string[];
  expirationMs: number;
}

const DEFAULT_MS = 90 * 86_400_000;
const SKEW_MS = 60_000;
// What a token is narrowed to is in the tokens that it is exchanged for, which clients send in a header.
const MAX_NARROWING_CHARS = 4_096;

/**
 * Checks a token to be made. Throws INVALID_ARGUMENT with all violations; a group that the caller does not see is
 * answered as one that does not exist.
 */
export async function checkPersonalToken(call: Call, token: PersonalToken): Promise<Checked> {
  const violations: FieldViolation[] = [
    ...violationsOf(PersonalTokenSchema, token),
    ...timeViolations({ expirationTime: token.expirationTime }),
  ];
  const capabilities = [...new Set(token.capabilities)];
  if (capabilities.includes(Capability.CAPABILITY_UNSPECIFIED))
    violations.push({ field: "capabilities", description: "must be names of capabilities" });
  const groups = [...new Set(token.groups)];
  if (violations.length === 0) violations.push(...(await groupFaults(call, groups)));
  const narrowing = [...capabilities.map(capabilityText), ...groups];
  if (narrowing.join().length > MAX_NARROWING_CHARS)
    violations.push({
      field: capabilities.length > groups.length ? "capabilities" : "groups",
      description: "are too many for a token: leave them empty for all",
    });
  const expirationMs =
    token.expirationTime === undefined ? call.nowMs + DEFAULT_MS : milliseconds(token.expirationTime);
  if (expirationMs <= call.nowMs) violations.push({ field: "expirationTime", description: "must be in the future" });
  else if (expirationMs > inAYear(call.nowMs) + SKEW_MS)
    violations.push({ field: "expirationTime", description: "must be within a year" });
  if (violations.length > 0) throw invalidArgument(...violations);
  return { name: token.name, capabilities, groups, expirationMs };
}

async function groupFaults(call: Call, groups: readonly string[]): Promise<FieldViolation[]> {
  const faults: FieldViolation[] = [];
  for (const [at, uid] of groups.entries()) {
    const seen =
      isUid(uid) &&
      (await call.may(Capability.CAP_IAM_GROUPS_LIST, uid)) &&
      (await call.tx.selectFrom("groups").select("uid").where("uid", "=", uid).executeTakeFirst()) !== undefined;
    if (!seen) faults.push({ field: `groups[${at}]`, description: "there is no such group" });
  }
  return faults;
}

/** The same time in the next year. */
function inAYear(nowMs: number): number {
  const end = new Date(nowMs);
  return end.setUTCFullYear(end.getUTCFullYear() + 1);
}
