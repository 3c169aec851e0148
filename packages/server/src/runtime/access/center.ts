// Pull tokens of a registry that groups here follow. What they may pull, that registry says at each log-in: it is not
// known here.
import {
  AccessReason,
  AccessStep_Kind as Kind,
  AccessStep_Outcome as Outcome,
  type ExplainAccessRequest,
} from "@moorage/api/messages";
import type { Call, Caller } from "@moorage/kernel/core/call";
import { failedPrecondition, type MoorageError } from "@moorage/kernel/errors";
import { isUid } from "@moorage/kernel/lib/uid";
import { isPullTokenIssuer } from "@moorage/platform/iam";
import { standInAbove } from "@moorage/registry/registry";
import { centersOf, originOf, type StandIn, standInFor } from "@moorage/registry/upstreams";
import type { ActionQuestion, Question } from "./question.ts";
import type { Subject } from "./subject.ts";

/** A pull token of another registry. */
interface CenterToken {
  /** Host, and port where there is one, of the registry. */
  host: string;
  /** The token's `sub`, or the user name. */
  subject: string;
}

/** A pull token of a center as the subject of a question. */
export interface CenterSubject extends Subject {
  /** What decides at the center. Undefined where it is decided here. */
  decides?: { host: string; name: string };
}

/**
 * The pull token that the request is about: by the claims that it has, or by those that events of its pulls have in
 * `actor.act`. `own`: the host of this registry. Undefined for everything else.
 */
function tokenIn({ subject }: ExplainAccessRequest, own: string): CenterToken | undefined {
  if (subject.case !== "claims") return undefined;
  const { issuer, subject: sub, audiences } = subject.value;
  const [audience = "", ...others] = audiences;
  const host = (isPullTokenIssuer(issuer) ? audience : isUid(sub) ? issuer : "").toLowerCase();
  return host === "" || host === own || others.length > 0 ? undefined : { host, subject: sub };
}

/**
 * The caller by such a token, where the question is about something below a group that follows its registry. Undefined
 * otherwise: then it is a token like those of all other issuers.
 */
export async function centerSubject(
  call: Call,
  request: ExplainAccessRequest,
  question: Question,
  own: string,
): Promise<CenterSubject | undefined> {
  const token = tokenIn(request, own);
  if (token === undefined || question.home === "") return undefined;
  const { host, subject } = token;
  const [above, centers] = [await standInAbove(call.tx, question.home), await centersOf(call.tx, host)];
  if (!centers.some(({ uid }) => uid === above?.uid)) return undefined;
  const caller: Caller = { identity: "", act: { iss: host, sub: subject }, center: [] };
  const message = `it is a pull token of ${host}, which has no identity here`;
  const steps = [{ kind: Kind.CLAIM_MATCH, outcome: Outcome.PASSED, message }];
  if (question.kind === "method" || question.attempted.action !== "pull")
    return {
      caller,
      steps: [{ kind: Kind.CLAIM_MATCH, outcome: Outcome.FAILED, message }],
      failure: {
        reason: AccessReason.CLAIMS_NOT_ACCEPTED,
        message: `a pull token of ${host} only pulls here`,
        remedies: [{ message: "use the token of an identity of this registry" }],
      },
    };
  const standIn = await standInOf(call, question);
  if (standIn === undefined || !centers.some(({ uid }) => uid === standIn.uid)) return { caller, steps };
  const { uid: upstream, name } = standIn;
  return { caller: { ...caller, center: [{ upstream, name }] }, steps, decides: { host, name } };
}

async function standInOf({ tx }: Call, { resolved, attempted }: ActionQuestion): Promise<StandIn | undefined> {
  const { repo, group } = resolved;
  if (repo !== undefined) return await originOf(tx, repo);
  return group === undefined ? undefined : (await standInFor(tx, group, attempted.name.split("/")))?.standIn;
}

/** What is answered where nothing here stands against it, so that the center decides. */
export function decidedAtCenter({ host, name }: NonNullable<CenterSubject["decides"]>): MoorageError {
  const what = `whether a pull token of ${host} may pull ${name}`;
  const description = `${what} is decided by ${host} at each log-in, not by role bindings here: ask there`;
  return failedPrecondition({ type: "DECIDED_BY_CENTER", subject: host, description });
}
