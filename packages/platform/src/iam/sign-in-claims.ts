import { IdentityProvider_OIDC_CorrelationRule as CorrelationRule } from "@moorage/api/messages";
import { groupsOf, type TokenGroups } from "./sign-in-groups.ts";
import type { Provider } from "./sign-in-provider.ts";
import { own, textOf } from "./token-values.ts";

/** The data about a person in an ID token. */
export interface Person extends TokenGroups {
  /** The provider's stable identifier of the person. */
  subject: string;
  /** Undefined when the token has no e-mail address. */
  email?: string;
  emailVerified: boolean;
  /** A valid name for an identity; never used to find a person. */
  name: string;
}

const MAX_SUBJECT_CHARS = 255;
const MAX_EMAIL_CHARS = 254;
const MAX_NAME_CHARS = 255;
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
    ...groupsOf(provider.groupsClaim, claims),
    ...(email !== undefined && EMAIL.test(email) && { email }),
    // Only the boolean true counts: "true", 1 and the like do not.
    emailVerified: own(claims, "email_verified") === true,
  };
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
