import { type AuditEvent, type Auditor, rejectionOf } from "@moorage/kernel/audit";
import { isUid } from "@moorage/kernel/lib/uid";
import type { Caller, CallData } from "@moorage/kernel/core/call";
import { type Jwt, parseJwt } from "./tokens/jwt.ts";
import type { TokenRejection } from "./token-rejection.ts";

/** The fields of an exchange request that the audit log records. */
export interface AuditedRequest {
  bearer: string;
  identity?: string;
  identityProvider?: string;
}

type Work<R extends AuditedRequest, A> = (request: R, data: CallData) => Promise<A>;

/**
 * The audit entry of an issued token. Tokens of a person are recorded under the identity provider that signed the
 * person in, since the person's identity itself is in no organization.
 */
export function exchangeEntry(
  method: "sts.exchange" | "sts.refresh",
  caller: Pick<Caller, "identity" | "act" | "external" | "client">,
  tokenId: string,
  used = "",
): AuditEvent {
  const { identity, act, external, client } = caller;
  return {
    method,
    resource: external?.provider ?? identity,
    identity,
    tokenId: used,
    act: act ?? {},
    details: { token: tokenId, ...(client !== undefined && { client }) },
  };
}

const rejectionOfError = new WeakMap<object, TokenRejection & { identity: string }>();

/**
 * Attaches the full reason of a rejection to its error, for the audit log: the answer to the client does not state it.
 */
export function withAuditReason<E extends object>(error: E, rejected: TokenRejection & { identity: string }): E {
  rejectionOfError.set(error, rejected);
  return error;
}

const MAX_CLAIM_CHARS = 200;
const MAX_BEARER_CHARS = 16_384;

/**
 * Wraps `work` so that its rejections are noted by the auditor. `read` answers the caller of a token of this issuer,
 * and undefined for every other token.
 */
export function auditRejections<R extends AuditedRequest, A>(
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
      const fullReason = rejectionOfError.get(error as object);
      const resource =
        [
          fullReason?.identity ?? "",
          request.identity ?? "",
          request.identityProvider ?? "",
          caller?.identity ?? "",
        ].find(isUid) ?? "";
      auditor.note(
        { ...data, ...(caller && { caller }) },
        {
          method,
          resource,
          ...rejection,
          ...(fullReason && { reason: `${fullReason.reason}: ${fullReason.why}` }),
          ...(caller === undefined && { act: claimedBy(parseJwt(request.bearer, MAX_BEARER_CHARS)) }),
        },
      );
      throw error;
    }
  };
}

/** The issuer and subject that a token states, unverified. */
function claimedBy(jwt: Jwt | undefined): Record<string, string> {
  const { iss, sub } = jwt?.claims ?? {};
  return {
    ...(typeof iss === "string" && { iss: iss.slice(0, MAX_CLAIM_CHARS) }),
    ...(typeof sub === "string" && { sub: sub.slice(0, MAX_CLAIM_CHARS) }),
  };
}
