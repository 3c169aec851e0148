import { SecurityTokenService } from "@moorage/api";
import type { Logger } from "pino";
import { violationsOf } from "../aip/validate.ts";
import { createSignInDoors, createStsDoors } from "../auth/index.ts";
import type { Config } from "../config/index.ts";
import { ANONYMOUS } from "../core/call.ts";
import { Code } from "../errors.ts";
import type { Clock } from "../lib/clock.ts";
import { mergeSnapshots, METRICS_CONTENT_TYPE } from "../observe/index.ts";
import { distributionDoor, type RegistryDeps, tokenDoor } from "../oci/index.ts";
import { createMethodAuthenticator } from "../runtime/authenticate.ts";
import { createPipeline } from "../runtime/pipeline.ts";
import { createMethodCache } from "../runtime/response-cache.ts";
import { metricsDoor } from "../transport/http/metrics.ts";
import type { Doors } from "../transport/http/router.ts";
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
    pipeline: createPipeline({
      dispatch,
      authenticate: createMethodAuthenticator({ methods, authenticate: access.authenticate, auditor, clock }),
      clock,
      cache: createMethodCache(reader, access.tokens.isStillGood),
    }),
    errorDomain,
    log,
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
