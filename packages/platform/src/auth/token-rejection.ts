import { MoorageError, unauthenticated, Code } from "@moorage/kernel/errors";

/**
 * Why an external token is rejected; `reason` in the metadata of ErrorInfo. NOT_ACCEPTED is the only answer for an
 * identity that does not name the token's issuer, and for a token that the issuer did not sign. The other reasons are
 * given for tokens that the issuer signed. TOO_LONG and TOKEN_KIND are given for every token, since they say nothing of
 * an identity. ISSUER is given where the issuer answers and its keys cannot be read by that: like an issuer that cannot
 * be reached, which is UNAVAILABLE, it shows that somebody names the issuer.
 */
export type RejectionReason =
  | "NOT_ACCEPTED"
  | "TOO_LONG"
  | "TOKEN_KIND"
  | "ISSUER"
  | "AUDIENCE"
  | "EXPIRED"
  | "NOT_YET_VALID"
  | "CLAIM"
  | "KEYS_EXPIRED";

/**
 * `claim`: the name of the claim that did not match; "" for none. `why`: the full reason, for the logs alone where the
 * answer must not state it.
 */
export interface TokenRejection {
  reason: RejectionReason;
  claim: string;
  why: string;
}

/**
 * The answer to a secret of ours that has expired, for whoever shows that it has it. `what`: a personal token, for
 * example.
 */
export function expiredRejection(what: string, endMs: number): MoorageError {
  const end = new Date(endMs).toISOString();
  const { message } = unauthenticated(`${PREFIX}this ${what} expired at ${end}: make a new one`);
  return new MoorageError(Code.Unauthenticated, message, { metadata: { reason: "EXPIRED" } });
}

export const PREFIX = "the token was not accepted: ";
