import type { DescMethod } from "@bufbuild/protobuf";
import { SecurityTokenService } from "@moorage/api";
import type { Logger } from "pino";
import { violationsOf } from "../aip/validate.ts";
import { refusalOf } from "../audit/index.ts";
import { createSignInDoors, createStsDoors, isWrongAudience, refusedCaller } from "../auth/index.ts";
import type { Config } from "../config.ts";
import { ANONYMOUS, type Caller } from "../core/call.ts";
import { Code, unauthenticated } from "../errors.ts";
import type { Clock } from "../lib/clock.ts";
import { mergeSnapshots, METRICS_CONTENT_TYPE } from "../observe/index.ts";
import { distributionDoor, type RegistryDeps, tokenDoor } from "../oci/index.ts";
import { nameOf } from "../runtime/methods.ts";
import { createKeptAnswers } from "../runtime/response-cache.ts";
import { metricsDoor } from "../transport/http/metrics.ts";
import type { Doors, RequestData } from "../transport/http/router.ts";
import { answerErrors } from "../transport/http/send-error.ts";
import { openApiDoors } from "../transport/openapi/door.ts";
import { restDoor } from "../transport/rest/handler.ts";
import { rpcDoor } from "../transport/rpc/handler.ts";
import type { Api } from "./api.ts";
import type { Base } from "./base.ts";
import type { Preflight } from "./preflight.ts";
import type { Storage } from "./storage.ts";

export interface HandlersOptions {
  clock: Clock;
  log: Logger;
  mayReadMetrics: Preflight["mayReadMetrics"];
  /** What `/metrics` answers when several processes serve the port together. Absent: this process's own. */
  collectMetrics?: (() => Promise<string>) | undefined;
  /** Aborted when streams are to end. */
  draining: AbortSignal;
}

/** Everything that answers requests. */
export function handlersOf(
  config: Config,
  { observation, store: { reader } }: Base,
  { methods }: Storage,
  { auditor, access, dispatch }: Api,
  registry: RegistryDeps,
  { clock, log, mayReadMetrics, collectMetrics, draining }: HandlersOptions,
): Doors {
  const { errorDomain } = config;
  const services = [...new Set([...methods.values()].map(({ desc }) => desc.parent))];
  const answerError = answerErrors(errorDomain, log);
  const shared = {
    dispatch,
    authenticate: callerOf({ methods }, { auditor, access }, clock),
    kept: createKeptAnswers(reader, access.tokens.isStillGood),
    errorDomain,
    log,
    clock,
  };
  return {
    rest: restDoor({ ...shared, services, violationsOf, maxBodyBytes: config.maxJsonBytes }),
    rpc: rpcDoor({
      ...shared,
      services: [...services, SecurityTokenService],
      aliases: config.grpcPackageAliases,
      shutdown: draining,
      maxMessageBytes: config.maxJsonBytes,
    }),
    distribution: distributionDoor(registry),
    twoTokens: ({ requestId, remoteAddress }, { headers }) =>
      auditor.note(
        { caller: ANONYMOUS, requestId, nowMs: clock.nowMs(), remoteAddress, userAgent: headers["user-agent"] ?? "" },
        { method: "door", resource: "", code: Code.Unauthenticated, reason: "TWO_TOKENS" },
      ),
    metrics: metricsDoor({
      mayRead: mayReadMetrics,
      collect: collectMetrics ?? (async () => mergeSnapshots([await observation.snapshot()])),
      contentType: METRICS_CONTENT_TYPE,
    }),
    paths: {
      ...createStsDoors({
        config,
        clock,
        keyring: access.keyring,
        exchanger: access.exchanger,
        grants: access.signIn.grants,
        answerError,
      }),
      ...createSignInDoors({ config, clock, signIn: access.signIn, answerError }),
      ...openApiDoors({ services, baseUrl: config.baseUrl, answerError }),
    },
    registryPaths: {
      "/token": tokenDoor({
        ...registry,
        tokens: access.tokens,
        exchanger: access.exchanger,
        refreshTokens: access.refreshTokens,
        registryTokenTtlMs: config.registryTokenTtlMs,
      }),
    },
  };
}

/** Who calls a method of the API. What is refused goes to the audit log. Throws UNAUTHENTICATED. */
function callerOf(
  { methods }: Pick<Storage, "methods">,
  { auditor, access }: Pick<Api, "auditor" | "access">,
  clock: Clock,
) {
  return async (
    { authorization }: { authorization?: string },
    method: DescMethod,
    { requestId, remoteAddress }: RequestData,
  ): Promise<Caller> => {
    if (methods.get(nameOf(method))?.access.public ?? true) return ANONYMOUS;
    const nowMs = clock.nowMs();
    try {
      return await access.authenticate(authorization, "platform", nowMs);
    } catch (error) {
      // Who shows no token is told that one is needed, and that is all.
      const refusal = authorization === undefined ? undefined : refusalOf(error, {});
      const caller = refusedCaller(error) ?? ANONYMOUS;
      if (refusal)
        auditor.note(
          { caller, requestId, nowMs, remoteAddress, userAgent: "" },
          { method: nameOf(method), resource: caller.identity, ...refusal, code: Code.Unauthenticated },
        );
      // Here a token for others is no token; only the registry tells the two apart. Source: spec.md, errors rule 5.
      throw isWrongAudience(error) ? unauthenticated("the token is for another audience") : error;
    }
  };
}
