import {
  AccessReason,
  AccessStep_Kind as Kind,
  AccessStep_Outcome as Outcome,
  type Capability,
  type ExplainAccessRequest,
  type ExternalClaims,
} from "@moorage/api/messages";
import { capabilityOf, membership, rejectionMessage, supposeExchange, usableIdentity } from "@moorage/platform/auth";
import { ANONYMOUS, type Call, type Caller } from "@moorage/kernel/core/call";
import { Code, type FieldViolation, invalidArgument, MoorageError } from "@moorage/kernel/errors";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { isUid } from "@moorage/kernel/lib/uid";
import { requireSeen, seesIdentity } from "./may-ask.ts";
import type { Failure, Step } from "./answer.ts";

/** Who would do it; a failure when nobody would even be the caller. */
export interface Subject {
  caller: Caller;
  steps: Step[];
  failure?: Failure;
}

const TOKEN_S = 60;
const MAX_DEPTH = 16;

/**
 * The caller of the request's subject, narrowed as it says. Throws NOT_FOUND for an identity that the caller does not
 * see, and INVALID_ARGUMENT that names the field.
 */
export async function subjectOf(
  call: Call,
  baseUrl: string,
  request: ExplainAccessRequest,
  organizations: readonly string[],
): Promise<Subject> {
  const { subject } = request;
  const narrowing = narrowingOf(request);
  const narrowed = (found: Subject): Subject => ({ ...found, caller: { ...found.caller, ...narrowing } });
  if (subject.case === "claims") return narrowed(await claimant(call, baseUrl, subject.value, organizations));
  if (subject.case === "identity") return narrowed(await identified(call, subject.value, request.externalGroups));
  if (subject.case === "anonymous" && subject.value) return { caller: ANONYMOUS, steps: [] };
  throw invalidArgument({ field: "identity", description: "name an identity, claims, or anonymous: true" });
}

function narrowingOf({ capabilities, scopes }: ExplainAccessRequest): Pick<Caller, "capabilities" | "scopes"> {
  const violations: FieldViolation[] = [];
  const held: Capability[] = [];
  for (const [at, name] of capabilities.entries()) {
    const capability = capabilityOf(name);
    if (capability === undefined)
      violations.push({ field: `capabilities[${at}]`, description: "must be the name of a capability" });
    else held.push(capability);
  }
  for (const [at, uid] of scopes.entries())
    if (!isUid(uid)) violations.push({ field: `scopes[${at}]`, description: "must be a uid" });
  if (violations.length > 0) throw invalidArgument(...violations);
  return { ...(held.length > 0 && { capabilities: held }), ...(scopes.length > 0 && { scopes }) };
}

async function identified(call: Call, uid: string, groups: string[]): Promise<Subject> {
  await requireSeen(call, uid);
  const usable = isUid(uid) ? await usableIdentity(call.tx, uid) : undefined;
  const step = { kind: Kind.IDENTITY, uid };
  if (usable === undefined) {
    const message = "the identity does not exist, or the identity provider that its person signed in through is gone";
    const remedies = [{ message: "use another identity, or register the identity provider again" }];
    return {
      caller: { identity: uid },
      steps: [{ ...step, outcome: Outcome.FAILED, message }],
      failure: { reason: AccessReason.IDENTITY_NOT_USABLE, message, remedies },
    };
  }
  const external = usable.provider === "" ? {} : membership(usable.provider, groups, call.nowMs);
  return {
    caller: { identity: uid, ...external },
    steps: [{ ...step, outcome: Outcome.PASSED, message: "the identity exists and can be assumed" }],
  };
}

function otherClaims(text: string): Record<string, unknown> {
  try {
    const claims = text === "" ? {} : parseJson(text, MAX_DEPTH);
    if (isObject(claims)) return claims;
  } catch {
    // Answered like what is no object.
  }
  throw invalidArgument({ field: "claims.claims", description: "must be the text of a JSON object" });
}

async function claimant(
  call: Call,
  baseUrl: string,
  asked: ExternalClaims,
  organizations: readonly string[],
): Promise<Subject> {
  const { identity, issuer, subject, audiences } = asked;
  if (identity !== "") await requireSeen(call, identity);
  const nowS = Math.floor(call.nowMs / 1000);
  const claims = {
    iat: nowS,
    exp: nowS + TOKEN_S,
    ...otherClaims(asked.claims),
    iss: issuer,
    ...(subject !== "" && { sub: subject }),
    aud: audiences.length === 0 ? [baseUrl] : audiences,
  };
  try {
    const considers = ({ uid }: { uid: string }): Promise<boolean> => seesIdentity(call, uid);
    const supposed = { claims, identity, organizations };
    const caller = await supposeExchange({ reader: call.tx, baseUrl }, supposed, considers, call);
    const message = "the identity accepts the claims; the signature is taken to be good";
    return { caller, steps: [{ kind: Kind.CLAIM_MATCH, outcome: Outcome.PASSED, message, uid: caller.identity }] };
  } catch (error) {
    if (!(error instanceof MoorageError)) throw error;
    const isAmbiguous = error.code === Code.InvalidArgument;
    if (!isAmbiguous && error.code !== Code.Unauthenticated) throw error;
    const message = rejectionMessage(error) ?? error.details.fieldViolations?.[0]?.description ?? error.message;
    return {
      caller: ANONYMOUS,
      steps: [{ kind: Kind.CLAIM_MATCH, outcome: Outcome.FAILED, message, uid: identity }],
      failure: {
        reason: isAmbiguous ? AccessReason.CLAIMS_AMBIGUOUS : AccessReason.CLAIMS_NOT_ACCEPTED,
        message,
        remedies: [
          {
            message: isAmbiguous
              ? "name one of these identities when the token is exchanged"
              : "have the issuer send other claims, or change what the identity accepts",
          },
        ],
      },
    };
  }
}
