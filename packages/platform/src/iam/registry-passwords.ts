import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Identity } from "@moorage/api/messages";
import type { FieldViolation } from "@moorage/kernel/errors";

/** The issuer in the passwords of `moorage pull-token`. */
const PULL_TOKEN_ISSUER = "moorage-pull-token";
/** The issuer in the passwords of `moorage push-token`. */
const PUSH_TOKEN_ISSUER = "moorage-push-token";

/** The issuers of passwords that are good for the registry and for nothing else. */
export const PASSWORD_ISSUERS = [PULL_TOKEN_ISSUER, PUSH_TOKEN_ISSUER];

const MAX_PUSH_DAYS = 90;
const DAY_MS = 86_400_000;

/**
 * Whether tokens of this issuer are passwords for the registry, which are good for nothing else. Other issuers are
 * URLs, or names that whoever makes an identity with static keys chooses.
 */
export function isPasswordIssuer(issuer: unknown): boolean {
  return PASSWORD_ISSUERS.some((known) => known === issuer);
}

/** Whether tokens of this issuer only pull, from the registry that they name. */
export function isPullTokenIssuer(issuer: unknown): boolean {
  return issuer === PULL_TOKEN_ISSUER;
}

/**
 * The violations of an identity that accepts push tokens: it must end within 90 days and accept them for a named
 * audience, since a password that writes should not be forgotten or taken elsewhere. Fields are relative to the
 * identity.
 */
export function pushTokenFaults({ relationship }: Identity, nowMs: number): FieldViolation[] {
  if (relationship.case !== "staticKeys" || relationship.value.issuer !== PUSH_TOKEN_ISSUER) return [];
  const { expirationTime, audiences } = relationship.value;
  const faults: FieldViolation[] = [];
  if (expirationTime === undefined || timestampMs(expirationTime) > nowMs + MAX_PUSH_DAYS * DAY_MS)
    faults.push({
      field: "staticKeys.expirationTime",
      description: `must be within ${MAX_PUSH_DAYS} days for a push token`,
    });
  if (audiences.length === 0)
    faults.push({ field: "staticKeys.audiences", description: "must name the registry for a push token" });
  return faults;
}
