import { Code, MoorageError, unauthenticated } from "../../errors.ts";
import type { Jwt } from "../tokens/jwt.ts";

/**
 * Why an external token is rejected; `reason` in the metadata of ErrorInfo. NOT_ACCEPTED is the only answer for an
 * identity that does not name the token's issuer, and for a token that the issuer did not sign. The other reasons are
 * given for tokens that the issuer signed, and TOO_LONG for every token, since it says nothing of an identity.
 */
export type RejectionReason =
  "NOT_ACCEPTED" | "TOO_LONG" | "AUDIENCE" | "EXPIRED" | "NOT_YET_VALID" | "CLAIM" | "KEYS_EXPIRED";

/**
 * `claim`: the name of the claim that did not match; "" for none. `why`: the full reason, for the logs alone where the
 * answer must not state it.
 */
export interface TokenRejection {
  reason: RejectionReason;
  claim: string;
  why: string;
}

/** A rejection as NOT_ACCEPTED, with the reason for the logs. */
export function notAccepted(why: string): TokenRejection {
  return { reason: "NOT_ACCEPTED", claim: "", why };
}

/** What the client named: an identity, an identity provider or neither. */
export interface Named {
  identity?: string;
  identityProvider?: string;
}

/** Of `iss` and of `sub` in tokens of other issuers. OpenID Connect Core 1.0 §2 allows 255 for a subject. */
const MAX_NAME_CHARS = 512;

/** The rejection of a token whose issuer or subject is too long; undefined for others. */
export function lengthRejection({ claims }: Jwt): TokenRejection | undefined {
  const claim = ["iss", "sub"].find((name) => {
    const value = claimOf(claims, name);
    return typeof value === "string" && value.length > MAX_NAME_CHARS;
  });
  if (claim === undefined) return undefined;
  return { reason: "TOO_LONG", claim, why: `the token's ${claim} is longer than ${MAX_NAME_CHARS} characters` };
}

const PREFIX = "the token was not accepted: ";
const MAX_QUOTED_CHARS = 200;

/**
 * The answer to a rejected token. It holds only what the client sent (the identity or provider it named, claims of its
 * token) and the name of a claim, never what the identity expects. For NOT_ACCEPTED the answer is the same, byte for
 * byte, whether the identity or provider exists or not.
 */
export function rejectionError(
  { reason, claim }: TokenRejection,
  { claims }: Pick<Jwt, "claims">,
  named: Named,
): MoorageError {
  const issuer = quoted(claims["iss"]);
  const value = claim === "" ? "" : quoted(claimOf(claims, claim));
  const { message } = unauthenticated(`${PREFIX}${textOf(reason, claim, value, named, issuer)}`);
  const metadata = { reason, issuer, ...named, ...(claim !== "" && { claim, value }) };
  return new MoorageError(Code.Unauthenticated, message, { metadata });
}

/** Why a token of another issuer was rejected, in the text of `rejectionError`; undefined for every other error. */
export function rejectionMessage(error: MoorageError): string | undefined {
  const at = error.message.indexOf(PREFIX);
  return error.code === Code.Unauthenticated && at >= 0 ? error.message.slice(at + PREFIX.length) : undefined;
}

/** The claims that the log records, as the token states them, verified or not. */
export function loggedClaims({ claims }: Jwt): { issuer: string; subject: string; audience: string } {
  return { issuer: quoted(claims["iss"]), subject: quoted(claims["sub"]), audience: quoted(claims["aud"]) };
}

/** The value of a claim for the log; "" when `claim` is "". */
export function loggedValue({ claims }: Jwt, claim: string): string {
  return claim === "" ? "" : quoted(claimOf(claims, claim));
}

function textOf(
  reason: RejectionReason,
  claim: string,
  value: string,
  { identity: uid, identityProvider: provider }: Named,
  issuer: string,
): string {
  const named =
    provider !== undefined ? `identity provider ${provider}` : uid !== undefined ? `identity ${uid}` : undefined;
  const identity = named ?? "the identity with this issuer and subject";
  switch (reason) {
    case "NOT_ACCEPTED":
      return named === undefined
        ? `no identity was named, and none with its issuer and subject accepts this token of issuer ${issuer}`
        : `no ${named} accepts this token of issuer ${issuer}`;
    case "TOO_LONG":
      return `claim ${claim} is longer than ${MAX_NAME_CHARS} characters: ${value}`;
    case "EXPIRED":
      return `it has expired: claim ${claim} is ${value}`;
    case "NOT_YET_VALID":
      return `it is not valid yet: claim ${claim} is ${value}`;
    case "KEYS_EXPIRED":
      return `the keys of ${identity} have expired`;
    case "AUDIENCE":
    case "CLAIM":
      return `${identity} does not accept claim ${claim}, which is ${value}`;
  }
}

function claimOf(claims: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** A claim as quoted JSON in one line of bounded length, or `absent`. */
function quoted(value: unknown): string {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}…` : text;
}
