import { SecurityTokenService } from "@moorage/api/messages";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Config } from "@moorage/kernel/config";
import { createAddresses } from "@moorage/kernel/core/addresses";
import { ANONYMOUS } from "@moorage/kernel/core/call";
import { Code } from "@moorage/kernel/errors";
import type { Clock } from "@moorage/kernel/lib/clock";
import { mergeSnapshots, METRICS_CONTENT_TYPE } from "@moorage/kernel/observe";
import { createLibraryCache, libraryHandler } from "@moorage/libraries/libraries";
import { createSignInEndpoints, createStsEndpoints } from "@moorage/platform/auth";
import { registryHandler, type RegistryDeps, tokenEndpoint } from "@moorage/registry/oci";
import type { Logger } from "pino";
import { mcpEndpoints } from "../mcp/index.ts";
import { createMethodAuthenticator } from "../runtime/authenticate.ts";
import { createPipeline } from "../runtime/pipeline.ts";
import { createMethodCache } from "../runtime/response-cache.ts";
import { commandEndpoints } from "../transport/http/command/endpoints.ts";
import { commandFiles } from "../transport/http/command/files.ts";
import { openConsole } from "../transport/http/console.ts";
import { homeEndpoint } from "../transport/http/home.ts";
import { metricsEndpoint } from "../transport/http/metrics.ts";
import type { Handlers } from "../transport/http/select-route.ts";
import { answerErrors } from "../transport/http/send-error.ts";
import { openApiEndpoints } from "../transport/openapi/endpoints.ts";
import { restHandler } from "../transport/rest/handler.ts";
import { rpcHandler } from "../transport/rpc/handler.ts";
import { asMoorageError } from "../transport/status.ts";
import type { Api } from "./api.ts";
import type { Base } from "./base.ts";
import type { Health } from "./health.ts";
import type { OpenedLibraries } from "./libraries.ts";
import type { Preflight } from "./preflight.ts";

export interface HandlersOptions {
  clock: Clock;
  log: Logger;
  mayReadMetrics: Preflight["mayReadMetrics"];
  /**
   * The answer of `/metrics` when several processes serve the port together. Defaults to this process's own metrics.
   */
  collectMetrics?: (() => Promise<string>) | undefined;
  /** Aborted when streams must end. */
  draining: AbortSignal;
  /** What `/readyz` says is wrong. */
  health: Pick<Health, "problem" | "defect">;
}

/** The handlers of all requests. */
export function handlersOf(
  config: Config,
  { observation, store: { reader } }: Base,
  { auditor, blocks, access, dispatch, allMethods: methods }: Api,
  registry: RegistryDeps,
  libraries: OpenedLibraries,
  { clock, log, mayReadMetrics, collectMetrics, draining, health }: HandlersOptions,
): Handlers {
  const { errorDomain } = config;
  const addresses = createAddresses(config);
  const services = [...new Set([...methods.values()].map(({ desc }) => desc.parent))];
  const answerError = answerErrors(errorDomain, log);
  const shared = {
    pipeline: createPipeline({
      dispatch,
      authenticate: createMethodAuthenticator({ methods, authenticate: access.authenticate, auditor, clock }),
      clock,
      cache: createMethodCache(reader, access.isStillGood),
    }),
    errorDomain,
    log,
  };
  const rest = restHandler({ ...shared, services, violationsOf, maxBodyBytes: config.maxJsonBytes });
  const pages = config.console ? openConsole(answerError) : undefined;
  return {
    rest,
    pages,
    rpc: rpcHandler({
      ...shared,
      services: [...services, SecurityTokenService],
      aliases: config.grpcPackageAliases,
      shutdown: draining,
      problem: () => health.defect() ?? health.problem(),
      maxMessageBytes: config.maxJsonBytes,
    }),
    distribution: registryHandler(registry),
    libraries: libraryHandler({
      ...libraries,
      transactor: registry.transactor,
      blobs: registry.blobs,
      authenticate: access.authenticate,
      credentials: access,
      answers: createLibraryCache(reader, access.isStillGood),
      auditor,
      blocks,
      config,
      addresses,
      clock,
      log,
    }),
    twoTokens: ({ requestId, remoteAddress }, { headers }) =>
      auditor.note(
        { caller: ANONYMOUS, requestId, nowMs: clock.nowMs(), remoteAddress, userAgent: headers["user-agent"] ?? "" },
        { method: "door", resource: "", code: Code.Unauthenticated, reason: "TWO_TOKENS" },
      ),
    metrics: metricsEndpoint({
      mayRead: mayReadMetrics,
      collect: collectMetrics ?? (async () => mergeSnapshots([await observation.snapshot()])),
      contentType: METRICS_CONTENT_TYPE,
    }),
    paths: {
      ...(config.mcp &&
        mcpEndpoints({
          pipeline: shared.pipeline,
          baseUrl: config.baseUrl,
          registryHost: new URL(config.registryUrl).host,
          version: observation.version,
          authenticate: access.authenticate,
          auditor,
          clock,
          answerError,
          shown: (error, requestId) => asMoorageError(error, log, requestId),
        })),
      ...(pages === undefined
        ? {
            "/": homeEndpoint({
              addresses,
              problem: () => health.defect() ?? health.problem(),
              otherwise: rest.handle,
            }),
          }
        : { "/console/*": pages.files }),
      ...createStsEndpoints({
        config,
        clock,
        keyring: access.keyring,
        exchanger: access.exchanger,
        grants: access.signIn.grants,
        answerError,
      }),
      ...createSignInEndpoints({ config, addresses, clock, signIn: access.signIn, answerError }),
      ...commandEndpoints({ addresses, answerError, files: commandFiles({ executables: config.commandDir }) }),
      ...openApiEndpoints({
        services,
        baseUrl: config.baseUrl,
        historySegments: config.historySegments,
        answerError,
      }),
    },
    registryPaths: {
      "/token": tokenEndpoint({
        ...registry,
        registryTokenTtlMs: config.registryTokenTtlMs,
      }),
    },
  };
}
