import type { Config } from "@moorage/kernel/config";
import type { CallData } from "@moorage/kernel/core/call";
import { Code, invalidArgument, MoorageError } from "@moorage/kernel/errors";
import { createTurns } from "@moorage/kernel/lib/turns";
import { isUid, organizationOf } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";
import { relationshipOf } from "../../iam/index.ts";
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
import {
  findIdentity,
  identitiesWithSubject,
  type IdentityRow,
  organizationNames,
  organizationOfIdentity,
  organizationsNamed,
} from "./identity-rows.ts";
import { type ExternalVerifier, verifySignature } from "./issuer-keys.ts";
import type { PatternMatcher, RequestPatterns } from "./pattern-budget.ts";
import { keysRejected, loggedClaims, loggedValue, notAccepted, rejectionError } from "./rejections.ts";
import type { TokenRejection } from "../token-rejection.ts";

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

/** What the request says of the identity: its uid or "", and otherwise the organizations that it may be in. */
export interface Asked {
  identity: string;
  /** The uids of groups that the token shall be narrowed to. */
  scopes: readonly string[];
  /** The names of organizations. */
  organizations: readonly string[];
}

/** The signature of one token, for the identities of one organization. */
export interface SignatureCheck {
  /** Verifies it. Answers the error instead of throwing it; undefined for a good signature. */
  verify(relationship: Relationship): Promise<unknown>;
  /** As `ExternalVerifier.isSigned`. */
  byCachedKeys(): Promise<boolean | undefined>;
}

/** What is otherwise when nothing is exchanged, and somebody only wants to know. */
export interface AcceptOptions {
  /** Defaults to the check of the token's signature. */
  signature?: { of(organization: string): SignatureCheck };
  /** Whether the identity is looked at. Defaults to all. */
  considers?(row: IdentityRow): Promise<boolean>;
}

/** Stands for an identity that does not exist: it names no issuer, so it is rejected as one that accepts nothing. */
const NO_RELATIONSHIP: Relationship = { case: undefined };
const MAX_CHOICES = 10;

/**
 * The one identity that accepts the token: `identity`, or, when that is empty, the one with the token's issuer and
 * subject. When several accept it, one in the organizations that were asked for wins, if it is the only one there. The
 * token's signature is verified.
 *
 * An issuer is asked for its keys only when an identity names it. Claims are compared after the signature is verified,
 * so that only the holder of a token that the issuer signed learns more of the identity than that it does not accept
 * the token. An identity that does not exist is answered like one that accepts nothing. A pattern of issuers must be
 * matched before the keys can be asked for, unless they are cached.
 *
 * Throws UNAUTHENTICATED when no identity accepts the token, INVALID_ARGUMENT with the choices when several do,
 * UNAVAILABLE when the issuer cannot be asked, and RESOURCE_EXHAUSTED when the patterns cost too much.
 */
export async function acceptingIdentity(
  deps: AcceptDeps,
  jwt: Jwt,
  asked: Asked,
  { nowMs, requestId }: CallData,
  { signature = signatureCheck(deps.external, jwt, nowMs), considers = async () => true }: AcceptOptions = {},
): Promise<Accepted> {
  const { identity } = asked;
  const patterns = deps.patterns();
  const ownAudiences = ownAudiencesOf(deps.config.baseUrl);
  const turn = createTurns();
  const accepted: Accepted[] = [];
  let failure: unknown;
  let rejected: TokenRejection & { identity: string } = {
    ...notAccepted("no identity has the issuer and subject"),
    identity,
  };
  const organizations = await organizationsAsked(deps.reader, asked);
  const uids = identity === "" ? await identitiesWithSubject(deps.reader, jwt.claims, organizations) : [identity];
  for (const uid of uids) {
    const row = isUid(uid) ? await findIdentity(deps.reader, uid) : undefined;
    // One of several is gone meanwhile.
    if (row === undefined && identity === "") continue;
    const relationship = row ? relationshipOf(row) : NO_RELATIONSHIP;
    const organization = row ? organizationOfIdentity(row) : "";
    if (row !== undefined && !(await considers(row))) continue;
    // Those of the organizations asked for come first, and win.
    const [best] = accepted;
    if (best && organizations.includes(organizationOfIdentity(best.row)) && !organizations.includes(organization))
      break;
    try {
      const reason = await judge(relationship, jwt, ownAudiences, nowMs, signature.of(organization), (isSigned) =>
        patterns(organization, isSigned),
      );
      if (reason) rejected = { ...reason, identity: row?.uid ?? identity };
      else if (row) accepted.push({ row, relationship });
    } catch (error) {
      failure = error;
    }
    await turn();
  }
  const [first, second] = accepted;
  if (second) throw await ambiguous(deps.reader, accepted);
  if (first) return first;
  if (failure !== undefined) throw failure;
  deps.log.info(
    { requestId, ...rejected, ...loggedClaims(jwt), value: loggedValue(jwt, rejected.claim) },
    "token exchange refused",
  );
  throw withAuditReason(rejectionError(rejected, jwt, identity === "" ? {} : { identity }), rejected);
}

/** The organizations that the request asks for, by uid: those of its scopes, and those of the images that it is for. */
async function organizationsAsked(reader: Database, { identity, scopes, organizations }: Asked): Promise<string[]> {
  if (identity !== "") return [];
  return [...new Set([...scopes.map(organizationOf), ...(await organizationsNamed(reader, organizations))])];
}

/** The error when several identities accept a token: whoever holds the token may assume each, so each is named. */
async function ambiguous(reader: Database, accepted: Accepted[]): Promise<MoorageError> {
  const choices = accepted.slice(0, MAX_CHOICES).map(({ row }) => row);
  const names = await organizationNames(reader, [...new Set(choices.map(organizationOfIdentity))]);
  const listed = choices.map((row) => `${row.uid} (${names.get(organizationOfIdentity(row)) ?? "no organization"})`);
  const more = accepted.length > MAX_CHOICES ? `, and ${accepted.length - MAX_CHOICES} more` : "";
  const error = invalidArgument({
    field: "identity",
    description: `several identities accept this token; name one, or a group of its organization as the scope: ${listed.join(", ")}${more}`,
  });
  error.details.metadata = { identities: choices.map(({ uid }) => uid).join(",") };
  return error;
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
  return keysRejected(error);
}

/**
 * Checks static keys for each relationship, and the published keys of the issuer once for all those of an organization:
 * whether the issuer can be asked depends on what the organization asks for otherwise.
 */
function signatureCheck(
  external: ExternalVerifier,
  jwt: Jwt,
  nowMs: number,
): { of(organization: string): SignatureCheck } {
  const published = new Map<string, Promise<unknown>>();
  let cached: Promise<boolean | undefined> | undefined;
  return {
    of: (organization) => ({
      verify({ case: kind, value }) {
        if (kind === "staticKeys") return errorOf(verifySignature(jwt, staticKeys(value)));
        const known = published.get(organization) ?? errorOf(external.verify(jwt, nowMs, organization));
        published.set(organization, known);
        return known;
      },
      byCachedKeys: () => (cached ??= external.isSigned(jwt, nowMs)),
    }),
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
