import { Code, MoorageError, unauthenticated } from "../../errors.ts";
import type { Jwt } from "../tokens/jwt.ts";

/**
 * Why an external token is refused, as ErrorInfo's metadata has it under `reason`. NOT_ACCEPTED is all that is told of
 * an identity that does not name the token's issuer, or of a token that this issuer did not sign; the others are told
 * to whoever shows a token that the issuer signed.
 */
export type RejectionReason = "NOT_ACCEPTED" | "AUDIENCE" | "EXPIRED" | "NOT_YET_VALID" | "CLAIM" | "KEYS_EXPIRED";

/**
 * `claim`: the name of the claim that did not fit; "" for none. `why`: the whole truth where the answer must not tell
 * it, for the log alone.
 */
export interface Refused {
  reason: RejectionReason;
  claim: string;
  why: string;
}

/** Which of the two, if any, the caller named. */
export interface Named {
  identity?: string;
  identityProvider?: string;
}

const PREFIX = "the token was not accepted: ";
const MAX_SHOWN_CHARS = 200;

/**
 * The answer to a refused token. It holds nothing but what the caller sent (the identity or provider it named, claims
 * of its token) and the name of a claim: never what the identity expects. For NOT_ACCEPTED it is the same, byte for
 * byte, whether the identity or provider exists or not.
 */
export function refusedAnswer({ reason, claim }: Refused, { claims }: Pick<Jwt, "claims">, named: Named): MoorageError {
  const issuer = shown(claims["iss"]);
  const value = claim === "" ? "" : shown(own(claims, claim));
  const { message } = unauthenticated(`${PREFIX}${wordsOf(reason, claim, value, named, issuer)}`);
  const metadata = { reason, issuer, ...named, ...(claim !== "" && { claim, value }) };
  return new MoorageError(Code.Unauthenticated, message, { metadata });
}

/** Why a token of another issuer was refused, in the words of `refusedAnswer`; undefined for every other error. */
export function rejectionMessage(error: MoorageError): string | undefined {
  const at = error.message.indexOf(PREFIX);
  return error.code === Code.Unauthenticated && at >= 0 ? error.message.slice(at + PREFIX.length) : undefined;
}

/** The claims of a token that the log tells of, as they are in the token, whoever made it. */
export function loggedClaims({ claims }: Jwt): { issuer: string; subject: string; audience: string } {
  return { issuer: shown(claims["iss"]), subject: shown(claims["sub"]), audience: shown(claims["aud"]) };
}

/** The value of a claim for the log; "" for none. */
export function loggedValue({ claims }: Jwt, claim: string): string {
  return claim === "" ? "" : shown(own(claims, claim));
}

function wordsOf(
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

function own(claims: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** A claim in one line, quoted and of bounded length, whatever it holds. */
function shown(value: unknown): string {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
}
