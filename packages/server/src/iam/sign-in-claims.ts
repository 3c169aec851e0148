import { IdentityProvider_OIDC_CorrelationRule as CorrelationRule } from "@moorage/api";
import type { Provider } from "./sign-in-provider.ts";

/** What an ID token says of a person. */
export interface Person {
  /** By what the provider knows the person again. */
  subject: string;
  /** Undefined: the token says nothing of an address. */
  email?: string;
  emailVerified: boolean;
  /** As identities can be called; nobody is found by it. */
  name: string;
  /** Each once. */
  groups: string[];
}

const MAX_SUBJECT_CHARS = 255;
const MAX_EMAIL_CHARS = 254;
const MAX_NAME_CHARS = 255;
const MAX_GROUP_CHARS = 256;
const MAX_GROUPS = 5_000;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** The claim by which people of the provider are known again. */
export function subjectClaim({ correlationRule }: Pick<Provider, "correlationRule">): "sub" | "oid" {
  return correlationRule === CorrelationRule.OID_EQUALS_EXTERNAL_ID ? "oid" : "sub";
}

/**
 * Reads the claims of a verified ID token. Undefined: the claim that `subjectClaim` names is no text, or too long. What
 * else cannot be read is as good as absent. Source: OpenID Connect Core 1.0 §2, §5.1.
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
    // Nothing but the word itself vouches for an address: "true", 1 and the like are no such word.
    emailVerified: own(claims, "email_verified") === true,
  };
}

/**
 * A list of texts, or one text for a list of one. One bad entry takes nothing from the others; of very long lists the
 * rest is not read.
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

/** Text that every database keeps as it is: half a character would come back as another one. */
function textOf(value: unknown, maxChars: number): string | undefined {
  return typeof value === "string" &&
    value !== "" &&
    value.length <= maxChars &&
    value.isWellFormed() &&
    !value.includes("\0")
    ? value
    : undefined;
}
