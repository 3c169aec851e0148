import { type AuditEvent, type Auditor, rejectionOf } from "../audit/index.ts";
import { isUid } from "../lib/uid.ts";
import type { Caller, CallData } from "../core/call.ts";
import { type Jwt, parseJwt } from "./tokens/jwt.ts";
import type { Refused } from "./exchange/rejections.ts";

/** What an exchange was asked for, as far as the log tells of it. */
export interface AuditedRequest {
  bearer: string;
  identity?: string;
  identityProvider?: string;
}

type Work<R extends AuditedRequest, A> = (request: R, data: CallData) => Promise<A>;

/**
 * The entry of a token that was handed out. Those of a person belong to the provider that let it in: the person itself
 * is in no organization.
 */
export function exchanged(
  method: "sts.exchange" | "sts.refresh",
  caller: Pick<Caller, "identity" | "act" | "external">,
  tokenId: string,
  used = "",
): AuditEvent {
  const { identity, act, external } = caller;
  return {
    method,
    resource: external?.provider ?? identity,
    identity,
    tokenId: used,
    act: act ?? {},
    details: { token: tokenId },
  };
}

const refusedBy = new WeakMap<object, Refused & { identity: string }>();

/** Keeps the whole truth of a refusal, which its answer does not tell, for the log. */
export function withTruth<E extends object>(error: E, refused: Refused & { identity: string }): E {
  refusedBy.set(error, refused);
  return error;
}

const MAX_CLAIM_CHARS = 200;
const MAX_BEARER_CHARS = 16_384;

/** Has the auditor note what the work refuses. `read`: whose a token of ours is; undefined for all others. */
export function noting<R extends AuditedRequest, A>(
  auditor: Pick<Auditor, "note">,
  method: "sts.exchange" | "sts.refresh",
  read: (bearer: string, nowMs: number) => Promise<Caller | undefined>,
  work: Work<R, A>,
): Work<R, A> {
  return async (request, data) => {
    try {
      return await work(request, data);
    } catch (error) {
      const rejection = rejectionOf(error, {});
      if (rejection === undefined) throw error;
      const caller = await read(request.bearer, data.nowMs);
      const truth = refusedBy.get(error as object);
      const resource =
        [truth?.identity ?? "", request.identity ?? "", request.identityProvider ?? "", caller?.identity ?? ""].find(
          isUid,
        ) ?? "";
      auditor.note(
        { ...data, ...(caller && { caller }) },
        {
          method,
          resource,
          ...rejection,
          ...(truth && { reason: `${truth.reason}: ${truth.why}` }),
          ...(caller === undefined && { act: claimedBy(parseJwt(request.bearer, MAX_BEARER_CHARS)) }),
        },
      );
      throw error;
    }
  };
}

/** Who a token says that it is of, whoever made it. */
function claimedBy(jwt: Jwt | undefined): Record<string, string> {
  const { iss, sub } = jwt?.claims ?? {};
  return {
    ...(typeof iss === "string" && { iss: iss.slice(0, MAX_CLAIM_CHARS) }),
    ...(typeof sub === "string" && { sub: sub.slice(0, MAX_CLAIM_CHARS) }),
  };
}
