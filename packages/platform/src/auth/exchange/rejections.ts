import { Code, MoorageError, unauthenticated } from "@moorage/kernel/errors";
import { PREFIX, type TokenRejection } from "../token-rejection.ts";
import type { Jwt } from "../tokens/jwt.ts";
import { IssuerError } from "./issuer-keys.ts";

/** A rejection as NOT_ACCEPTED, with the reason for the logs. */
export function notAccepted(why: string): TokenRejection {
  return { reason: "NOT_ACCEPTED", claim: "", why };
}

/** A rejection because of the issuer's keys, where the error of their verification says why; otherwise NOT_ACCEPTED. */
export function keysRejected(error: MoorageError): TokenRejection {
  const { cause } = error;
  if (cause instanceof IssuerError) return { reason: "ISSUER", claim: "", why: cause.message };
  return notAccepted(cause instanceof Error ? cause.message : "bad signature or unknown key");
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

// Of tokens that are for something else than to say who somebody is. Source: OpenID Connect Back-Channel Logout 1.0
// §2.4, RFC 8417 §2.3, RFC 9449 §4.2, RFC 9901 §4.3.
const OTHER_TYPES = new Set(["logout+jwt", "secevent+jwt", "dpop+jwt", "kb+jwt"]);

/**
 * The rejection of a token that is not a subject token: a logout token or another event, or one that is bound to a key
 * whose possession nobody proves here (RFC 7800 §3.1). Undefined for others.
 */
export function kindRejection({ header, claims }: Pick<Jwt, "header" | "claims">): TokenRejection | undefined {
  const type = String(header["typ"] ?? "")
    .toLowerCase()
    .replace(/^application\//, "");
  const isEvent = Object.hasOwn(claims, "events") || type === "logout+jwt" || type === "secevent+jwt";
  if (isEvent)
    return {
      reason: "TOKEN_KIND",
      claim: "events",
      why: "it is a logout token or another event, not a subject token",
    };
  if (OTHER_TYPES.has(type))
    return { reason: "TOKEN_KIND", claim: "", why: `it is of type ${type}, not a subject token` };
  if (Object.hasOwn(claims, "cnf"))
    return { reason: "TOKEN_KIND", claim: "cnf", why: "it is bound to a key, whose possession is not proven here" };
  return undefined;
}

const MAX_QUOTED_CHARS = 200;

/**
 * The answer to a rejected token. It holds only what the client sent (the identity or provider it named, claims of its
 * token) and the name of a claim, never what the identity expects. For NOT_ACCEPTED the answer is the same, byte for
 * byte, whether the identity or provider exists or not.
 */
export function rejectionError(
  { reason, claim, why }: TokenRejection,
  { claims }: Pick<Jwt, "claims">,
  named: Named,
): MoorageError {
  const issuer = quoted(claims["iss"]);
  const value = claim === "" ? "" : quoted(claimOf(claims, claim));
  const { message } = unauthenticated(`${PREFIX}${textOf({ reason, claim, why }, value, named, issuer)}`);
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
  { reason, claim, why }: TokenRejection,
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
    case "TOKEN_KIND":
      return why;
    case "ISSUER":
      return `its issuer ${issuer} cannot be used: ${why}`;
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
