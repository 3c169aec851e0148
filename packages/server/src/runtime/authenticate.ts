import type { DescMethod } from "@bufbuild/protobuf";
import { type Auditor, rejectionOf } from "@moorage/kernel/audit";
import { type Authenticator, isWrongAudience, rejectedCaller } from "@moorage/platform/auth";
import { ANONYMOUS, type Caller } from "@moorage/kernel/core/call";
import type { RequestData } from "@moorage/kernel/core/http";
import { Code, unauthenticated } from "@moorage/kernel/errors";
import { attempt, type Awaitable } from "@moorage/kernel/lib/awaitable";
import type { Clock } from "@moorage/kernel/lib/clock";
import { type Method, nameOf } from "./methods.ts";

/** Authenticates the caller of a method of the API by the request's Authorization header. Throws UNAUTHENTICATED. */
export type MethodAuthenticator = (
  authorization: string | undefined,
  method: DescMethod,
  data: RequestData,
) => Awaitable<Caller>;

export interface MethodAuthenticatorDeps {
  methods: ReadonlyMap<string, Method>;
  authenticate: Authenticator;
  /** Records rejected tokens. */
  auditor: Pick<Auditor, "note">;
  clock: Pick<Clock, "nowMs">;
}

/**
 * Verifies the callers of the API's methods. Public methods, and those that read the token themselves, accept any
 * caller; those for anonymous callers as well accept a request without a token.
 */
export function createMethodAuthenticator(deps: MethodAuthenticatorDeps): MethodAuthenticator {
  const { methods, authenticate, auditor, clock } = deps;
  return (authorization, method, { requestId, remoteAddress }) => {
    const access = methods.get(nameOf(method))?.access;
    if (access?.public ?? true) return ANONYMOUS;
    if (access?.anonymous === true && authorization === undefined) return ANONYMOUS;
    const nowMs = clock.nowMs();
    return attempt(
      () => authenticate(authorization, "platform", nowMs),
      (error) => {
        // A request without a token gets a challenge, which is not recorded as a rejection.
        const rejection = authorization === undefined ? undefined : rejectionOf(error, {});
        const caller = rejectedCaller(error) ?? ANONYMOUS;
        if (rejection)
          auditor.note(
            { caller, requestId, nowMs, remoteAddress, userAgent: "" },
            { method: nameOf(method), resource: caller.identity, ...rejection, code: Code.Unauthenticated },
          );
        // To the platform a token for another audience is the same as an invalid one; only the registry distinguishes
        // the two.
        throw isWrongAudience(error) ? unauthenticated("the token is for another audience") : error;
      },
    );
  };
}
