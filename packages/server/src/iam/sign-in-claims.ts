import { IdentityProvider_OIDC_CorrelationRule as CorrelationRule } from "@moorage/api/messages";
import type { Provider } from "./sign-in-provider.ts";

/** The data about a person in an ID token. */
export interface Person {
  /** The provider's stable identifier of the person. */
  subject: string;
  /** Undefined when the token has no e-mail address. */
  email?: string;
  emailVerified: boolean;
  /** A valid name for an identity; never used to find a person. */
  name: string;
  /** Without duplicates. */
  groups: string[];
}

const MAX_SUBJECT_CHARS = 255;
const MAX_EMAIL_CHARS = 254;
const MAX_NAME_CHARS = 255;
const MAX_GROUP_CHARS = 256;
const MAX_GROUPS = 5_000;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** The claim that identifies people of the provider. */
export function subjectClaim({ correlationRule }: Pick<Provider, "correlationRule">): "sub" | "oid" {
  return correlationRule === CorrelationRule.OID_EQUALS_EXTERNAL_ID ? "oid" : "sub";
}

/**
 * Reads the claims of a verified ID token. Undefined if the claim that `subjectClaim` names is missing, is not a
 * string, or is too long. Other claims that are not valid are ignored. Source: OpenID Connect Core 1.0 §2, §5.1.
 */
export function personOf(
  provider: Pick<Provider, "correlationRule" | "groupsClaim">,
  claims: Record<string, unknown>,
): Person | undefined {
  const subject = textOf(own(claims, subjectClaim(provider)), MAX_SUBJECT_CHARS);
  if (subject === undefined) return undefined;
  const email = textOf(own(claims, "email"), MAX_EMAIL_CHARS);
  return {
    subject,
    name: nameOf(claims),
    groups: provider.groupsClaim === "" ? [] : groupsOf(own(claims, provider.groupsClaim)),
    ...(email !== undefined && EMAIL.test(email) && { email }),
    // Only the boolean true counts: "true", 1 and the like do not.
    emailVerified: own(claims, "email_verified") === true,
  };
}

/**
 * The groups in a list of strings or in a single string. Invalid entries are skipped; entries beyond `MAX_GROUPS` are
 * ignored.
 */
function groupsOf(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value.slice(0, MAX_GROUPS) : [value];
  return [...new Set(values.flatMap((one) => textOf(one, MAX_GROUP_CHARS) ?? []))];
}

function nameOf(claims: Record<string, unknown>): string {
  for (const claim of ["name", "preferred_username", "email"]) {
    const value = own(claims, claim);
    const name =
      typeof value === "string"
        ? value
            .toLowerCase()
            .replace(/@.*$/s, "")
            .replace(/[^a-z0-9 ._-]+/g, "-")
            .slice(0, MAX_NAME_CHARS)
            .trim()
        : "";
    if (/[a-z0-9]/.test(name)) return name;
  }
  return "person";
}

function own(claims: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** A string that every database stores unchanged: well-formed, without null characters. Undefined for anything else. */
function textOf(value: unknown, maxChars: number): string | undefined {
  return typeof value === "string" &&
    value !== "" &&
    value.length <= maxChars &&
    value.isWellFormed() &&
    !value.includes("\0")
    ? value
    : undefined;
}
