import type { CallData } from "../../core/call.ts";
import type { Config } from "../../config/index.ts";
import { Code, invalidArgument, MoorageError } from "../../errors.ts";
import { relationshipOf } from "../../iam/index.ts";
import { isUid, organizationOf } from "../../lib/uid.ts";
import type { Database } from "../../store/index.ts";
import { withAuditReason } from "../audit.ts";
import type { Jwt } from "../tokens/jwt.ts";
import {
  hasIssuerPattern,
  mismatch,
  namesIssuer,
  ownAudiencesOf,
  type Relationship,
  staticKeys,
} from "./claim-match.ts";
import { findIdentity, identitiesWithSubject, type IdentityRow } from "./identity-rows.ts";
import { type ExternalVerifier, pickKey, verifySignature } from "./issuer-keys.ts";
import type { PatternMatcher, RequestPatterns } from "./pattern-budget.ts";
import { loggedClaims, loggedValue, notAccepted, type TokenRejection, rejectionError } from "./rejections.ts";

export interface AcceptDeps {
  config: Pick<Config, "baseUrl">;
  reader: Database;
  external: ExternalVerifier;
  /** Begins the budget of one exchange. */
  patterns(): RequestPatterns;
  log: { info(fields: object, message: string): void };
}

/** An identity that accepts a token, and the relationship by which it does. */
export interface Accepted {
  row: IdentityRow;
  relationship: Relationship;
}

/** The signature of one token. */
interface SignatureCheck {
  /** Verifies it. Answers the error instead of throwing it; undefined for a good signature. */
  verify(relationship: Relationship): Promise<unknown>;
  /** As `ExternalVerifier.isSigned`. */
  byCachedKeys(): Promise<boolean | undefined>;
}

/** Stands for an identity that does not exist: it names no issuer, so it is rejected as one that accepts nothing. */
const NO_RELATIONSHIP: Relationship = { case: undefined };

/**
 * The one identity that accepts the token: `identity`, or, when that is empty, the one with the token's issuer and
 * subject. The token's signature is verified.
 *
 * An issuer is asked for its keys only when an identity names it. Claims are compared after the signature is verified,
 * so that only the holder of a token that the issuer signed learns more of the identity than that it does not accept
 * the token. An identity that does not exist is answered like one that accepts nothing. A pattern of issuers must be
 * matched before the keys can be asked for, unless they are cached.
 *
 * Throws UNAUTHENTICATED when no identity accepts the token, INVALID_ARGUMENT when several do, UNAVAILABLE when the
 * issuer cannot be asked, and RESOURCE_EXHAUSTED when the patterns cost too much.
 */
export async function acceptingIdentity(
  deps: AcceptDeps,
  jwt: Jwt,
  identity: string,
  { nowMs, requestId }: CallData,
): Promise<Accepted> {
  const signature = signatureCheck(deps.external, jwt, nowMs);
  const patterns = deps.patterns();
  const ownAudiences = ownAudiencesOf(deps.config.baseUrl);
  const accepted: Accepted[] = [];
  let failure: unknown;
  let rejected: TokenRejection & { identity: string } = {
    ...notAccepted("no identity has the issuer and subject"),
    identity,
  };
  const rows = await candidates(deps.reader, jwt, identity);
  for (const row of rows.length === 0 && identity !== "" ? [undefined] : rows) {
    const relationship = row ? relationshipOf(row) : NO_RELATIONSHIP;
    try {
      const reason = await judge(relationship, jwt, ownAudiences, nowMs, signature, (isSigned) =>
        patterns(organizationOf(row?.uid ?? ""), isSigned),
      );
      if (reason) rejected = { ...reason, identity: row?.uid ?? identity };
      else if (row) accepted.push({ row, relationship });
    } catch (error) {
      failure = error;
    }
  }
  const [first, second] = accepted;
  if (second)
    throw invalidArgument({ field: "identity", description: "several identities accept this token: name one of them" });
  if (first) return first;
  if (failure !== undefined) throw failure;
  deps.log.info(
    { requestId, ...rejected, ...loggedClaims(jwt), value: loggedValue(jwt, rejected.claim) },
    "token exchange refused",
  );
  throw withAuditReason(rejectionError(rejected, jwt, identity === "" ? {} : { identity }), rejected);
}

async function candidates(reader: Database, { claims }: Jwt, identity: string): Promise<IdentityRow[]> {
  if (identity === "") return identitiesWithSubject(reader, claims);
  const row = isUid(identity) ? await findIdentity(reader, identity) : undefined;
  return row ? [row] : [];
}

/** Why the relationship does not accept the token; undefined when it does. Throws when the issuer cannot be asked. */
async function judge(
  relationship: Relationship,
  jwt: Jwt,
  ownAudiences: readonly string[],
  nowMs: number,
  signature: SignatureCheck,
  matcher: (isSigned: boolean) => PatternMatcher,
): Promise<TokenRejection | undefined> {
  const isSigned = hasIssuerPattern(relationship) ? await signature.byCachedKeys() : undefined;
  if (isSigned === false) return notAccepted("bad signature");
  if (!(await namesIssuer(relationship, jwt.claims, matcher(isSigned === true))))
    return notAccepted("the identity does not name the issuer, cannot be assumed, or does not exist");
  const error = await signature.verify(relationship);
  if (error === undefined) return await mismatch(relationship, jwt.claims, ownAudiences, nowMs, matcher(true));
  if (!(error instanceof MoorageError) || error.code !== Code.Unauthenticated) throw error;
  return notAccepted(error.cause instanceof Error ? error.cause.message : "bad signature or unknown key");
}

/** Checks static keys for each relationship, and the published keys of the issuer once for all of them. */
function signatureCheck(external: ExternalVerifier, jwt: Jwt, nowMs: number): SignatureCheck {
  let published: Promise<unknown> | undefined;
  let cached: Promise<boolean | undefined> | undefined;
  return {
    verify: ({ case: kind, value }) =>
      kind === "staticKeys"
        ? errorOf(verifySignature(jwt, pickKey(staticKeys(value), jwt.header)))
        : (published ??= errorOf(external.verify(jwt, nowMs))),
    byCachedKeys: () => (cached ??= external.isSigned(jwt, nowMs)),
  };
}

/** The error that the promise rejects with; undefined when it resolves. */
async function errorOf(work: Promise<void>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error;
  }
}
