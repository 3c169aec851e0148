import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { DescMethod } from "@bufbuild/protobuf";
import {
  type CreateSubscriptionRequest,
  type ExchangeRefreshTokenRequest,
  type ExchangeRequest,
  SecurityTokenService,
  SubscriptionsService,
} from "@moorage/api";
import type { Logger } from "pino";
import { accountProviders } from "../runtime/cloud-providers.ts";
import {
  createAccess,
  createSecurityTokenService,
  createSignInDoors,
  createStsDoors,
  isWrongAudience,
  refusedCaller,
} from "../auth/index.ts";
import { auditCleaner } from "../jobs/expire-audit.ts";
import { createAuditor, refusalOf } from "../audit/index.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { BlobsUrlError, openBlobs } from "../blobs/index.ts";
import { writeBootstrap } from "../installation/bootstrap.ts";
import { ANONYMOUS, type Caller } from "../core/call.ts";
import { type Config, ConfigError, withUrls } from "../config.ts";
import { violationsOf } from "../aip/validate.ts";
import { createDispatch, type MethodCheck, type OutsideMethod } from "../runtime/dispatch.ts";
import {
  createPullRecorder,
  createPulls,
  distributionDoor,
  type RegistryDeps,
  startPullTeller,
  tokenDoor,
} from "../oci/index.ts";
import { Code, unauthenticated } from "../errors.ts";
import { type Dispatcher, startDispatcher, wakingTransactor } from "../webhooks/index.ts";
import { backlogs, createSinkCheck } from "../events/index.ts";
import { createCollector } from "./gc.ts";
import { eventCleaner } from "../jobs/expire-events.ts";
import { startHousekeeping } from "../jobs/scheduler.ts";
import { createKeptAnswers } from "../runtime/response-cache.ts";
import { methodsOf, nameOf } from "../runtime/methods.ts";
import { openMirroring } from "../mirroring/index.ts";
import { createLog, mergeSnapshots, METRICS_CONTENT_TYPE, openObservation, type Snapshot } from "../observe/index.ts";
import { bringUp, openInstallation, takeDataDir } from "../installation/open.ts";
import { blobReader } from "../runtime/read-blob.ts";
import { openStore } from "../store/index.ts";
import { readTerms } from "../installation/terms-file.ts";
import { createAdmission } from "../transport/http/rate-limits.ts";
import { answerErrors } from "../transport/http/send-error.ts";
import { clientAddress, networks } from "../transport/http/client-address.ts";
import { frontDoor, type RequestData } from "../transport/http/router.ts";
import { listen } from "../transport/http/listen.ts";
import { metricsDoor } from "../transport/http/metrics.ts";
import { openApiDoors } from "../transport/openapi/door.ts";
import { restDoor } from "../transport/rest/handler.ts";
import { rpcDoor } from "../transport/rpc/handler.ts";
import { statusJson } from "../transport/status.ts";
import { openTransactor } from "../runtime/transactor.ts";

export interface Server {
  /** Where it listens. */
  url: string;
  /** The settings in force, with every URL filled in. */
  config: Config;
  /** What this process counted. */
  snapshot(): Promise<Snapshot>;
  /**
   * Takes no more requests, lets those under way end, and closes everything. Called again, it waits for the same end.
   */
  close(): Promise<void>;
}

export interface ServerOptions {
  clock?: Clock;
  /** Absent: lines on standard output, at the level and in the format of the settings. */
  log?: Logger;
  /** What `/metrics` answers when several processes serve the port together. Absent: this process's own. */
  collectMetrics?: () => Promise<string>;
  /**
   * Whether another process has prepared the installation, holds its data folder and tells its URLs there (cluster.ts).
   */
  prepared?: boolean;
}

/** How many subscriptions' backlogs `/metrics` has. */
const MAX_BACKLOGS = 500;

/**
 * Serves an installation in this process. When it resolves, it answers. Throws a ConfigError or StoreError in one line
 * for the operator.
 */
export async function startServer(
  settings: Config,
  { clock = systemClock, log = createLog(settings), collectMetrics, prepared = false }: ServerOptions = {},
): Promise<Server> {
  const tls = settings.tlsCert === "" ? undefined : readTls(settings);
  const terms = readTerms(settings.termsFile);
  const addressOf = addressRule(() => clientAddress(settings.trustedProxies));
  const mayReadMetrics = addressRule(() => networks("MOORAGE_METRICS_NETWORKS", settings.metricsNetworks));
  const stack = new AsyncDisposableStack();
  try {
    const lock = prepared ? undefined : takeDataDir(settings.dataDir);
    stack.defer(() => lock?.release());
    const observation = await openObservation(settings, log);
    stack.defer(() => observation.close());
    const { database } = observation;
    const store = await openStore({
      ...settings,
      log: (err, message) => log.warn({ err }, message),
      onRetry: (kind) => database.retried(kind),
    });
    stack.defer(() => store.close());
    if (!prepared) await bringUp(store, clock.nowMs());
    const { installation, secretKeys, secrets } = await openInstallation(store, settings, clock.nowMs());
    const admission = createAdmission({
      identity: settings.rateLimitIdentity,
      address: settings.rateLimitAddress,
      clock,
      limited: observation.limited,
    });
    const front = frontDoor({
      log,
      addressOf,
      errorDomain: settings.errorDomain,
      admission,
      observer: observation.requests,
    });
    const port = await listen({
      host: settings.host,
      port: settings.port,
      tls,
      handler: front.handle,
      takeStream: front.takeStream,
      errorDomain: settings.errorDomain,
      log,
    }).catch((error: unknown) => {
      throw new ConfigError(
        `${settingAtFault(error)}: cannot listen on ${settings.host}:${settings.port}: ${messageOf(error)}`,
      );
    });
    const shutdown = new AbortController();
    stack.defer(async () => {
      shutdown.abort();
      await port.close(settings.drainTimeoutMs);
    });
    const config = withUrls(settings, port.port);
    if (!prepared)
      writeBootstrap(config.dataDir, {
        baseUrl: config.baseUrl,
        registryUrl: config.registryUrl,
        ...installation.bootstrap,
      });

    const { reader } = store;
    const admins = [installation.bootstrap.identity.uid, ...config.admins];
    const blobs = observation.blobs(
      await openBlobs(config).catch((error: unknown) => {
        throw error instanceof BlobsUrlError
          ? new ConfigError(`MOORAGE_BLOBS_URL: ${error.message}`, { cause: error })
          : error;
      }),
    );
    const methods = methodsOf({
      ...installation,
      secrets,
      eventsPrefix: config.eventsPrefix,
      baseUrl: config.baseUrl,
      terms,
      admins,
      readBlob: blobReader(blobs),
      providers: accountProviders(config, () => access.tokens),
    });
    const writer = await openTransactor(store, {
      dataDir: config.dataDir,
      methods,
      pageTokenKey: installation.pageTokenKey,
      ownerRole: installation.ownerRole,
      admins,
      secretKeys,
      eventsPrefix: config.eventsPrefix,
      terms,
      onFault: (error) => log.fatal({ err: error }, "the writing thread died"),
    });
    stack.defer(() => writer.close());
    database.watch(() => ({ pool: store.use?.(), writes: writer.waiting() }));
    const events: { dispatcher?: Dispatcher } = {};
    const transactor = wakingTransactor(observation.transactor(writer), () => events.dispatcher?.wake());
    observation.events.watch(async () => ({
      nowMs: clock.nowMs(),
      backlogs: await backlogs(reader, { limit: MAX_BACKLOGS }),
    }));
    const auditor = createAuditor({ writer: transactor, clock, log, dropped: observation.audit.dropped });
    stack.defer(() => auditor.close());
    // On PostgreSQL this thread makes events of pulls itself; on SQLite the writing thread does, which may have a
    // processor of its own.
    const isShared = store.engine === "postgres" || availableParallelism() <= config.workers;
    const pullTeller = startPullTeller({ writer: transactor, reader, clock, log, isShared });
    const pullRecorder = config.eventsPulls
      ? createPullRecorder({
          writer: transactor,
          clock,
          log,
          kept: pullTeller.wake,
          dropped: observation.pulls.dropped,
        })
      : undefined;
    stack.defer(async () => {
      await pullRecorder?.close();
      await pullTeller.close();
    });
    const access = createAccess({ config, reader, writer: transactor, secrets, auditor, log });
    const sts = createSecurityTokenService(access.exchanger);
    const checkSink = createSinkCheck(config);
    const dispatch = createDispatch({
      methods,
      reader,
      transactor,
      admins,
      auditor,
      checks: new Map<string, MethodCheck>([
        [
          nameOf(SubscriptionsService.method.createSubscription),
          (_, request) => checkSink(request as CreateSubscriptionRequest),
        ],
      ]),
      outside: new Map<string, OutsideMethod>([
        [
          nameOf(SecurityTokenService.method.exchange),
          (data, request, authorization) => sts.exchange(data, request as ExchangeRequest, authorization),
        ],
        [
          nameOf(SecurityTokenService.method.exchangeRefreshToken),
          (data, request, authorization) =>
            sts.exchangeRefreshToken(data, request as ExchangeRefreshTokenRequest, authorization),
        ],
      ]),
    });
    const authenticate = async (
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
    const services = [...new Set([...methods.values()].map(({ desc }) => desc.parent))];
    const shared = {
      dispatch,
      authenticate,
      kept: createKeptAnswers(reader, access.tokens.isStillGood),
      errorDomain: config.errorDomain,
      log,
      clock,
    };
    const mirroring = openMirroring({ transactor, blobs, secrets, clock, config, log, metrics: observation.mirror });
    stack.defer(() => mirroring.close());
    const registry: RegistryDeps = {
      transactor,
      auditor,
      pullRecorder,
      pulls: createPulls(reader, access.tokens.isStillGood),
      blobs,
      upstream: mirroring.upstream,
      authenticate: access.authenticate,
      config,
      clock,
      log,
      statusJson,
    };
    front.open({
      rest: restDoor({ ...shared, services, violationsOf, maxBodyBytes: config.maxJsonBytes }),
      rpc: rpcDoor({
        ...shared,
        services: [...services, SecurityTokenService],
        aliases: config.grpcPackageAliases,
        shutdown: shutdown.signal,
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
          answerError: answerErrors(config.errorDomain, log),
        }),
        ...createSignInDoors({
          config,
          clock,
          signIn: access.signIn,
          answerError: answerErrors(config.errorDomain, log),
        }),
        ...openApiDoors({ services, baseUrl: config.baseUrl, answerError: answerErrors(config.errorDomain, log) }),
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
    });
    const collector = createCollector({ transactor, blobs, config, clock, log, ran: observation.gc.ran });
    const cleaner = auditCleaner({ writer: transactor, reader, clock, retentionMs: config.auditRetentionMs, log });
    const eventsCleaner = eventCleaner({ writer: transactor, clock, retentionMs: config.eventsRetentionMs, log });
    const housekeeping = await startHousekeeping({
      transactor,
      keyring: access.keyring,
      registry,
      signingKeyAgeMs: config.signingKeyAgeMs,
      log,
      chores: [...collector.chores, cleaner.chore, eventsCleaner.chore],
    });
    mirroring.start();
    const dispatcher = (events.dispatcher = startDispatcher({
      transactor,
      reader,
      tokens: access.tokens,
      secrets,
      clock,
      metrics: observation.events,
      log,
      config,
    }));
    log.info(
      { url: config.baseUrl, registryUrl: config.registryUrl, address: port.address, port: port.port },
      "listening",
    );
    // Whoever waits for this line does not wait for the next ones.
    log.flush();

    const close = async (): Promise<void> => {
      housekeeping.stop();
      await collector.stop();
      await cleaner.stop();
      await eventsCleaner.stop();
      await mirroring.close();
      front.close();
      shutdown.abort();
      await Promise.all([port.close(config.drainTimeoutMs), dispatcher.close()]);
      await auditor.close();
      await pullRecorder?.close();
      await pullTeller.close();
      await writer.close();
      await store.close();
      lock?.release();
      await observation.close();
      log.info("closed");
    };
    let closed: Promise<void> | undefined;
    return { url: config.baseUrl, config, snapshot: () => observation.snapshot(), close: () => (closed ??= close()) };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** The certificate chain and its key, looked at before anything listens. */
function readTls({ tlsCert, tlsKey }: Config): { cert: Buffer; key: Buffer } {
  const cert = readSetting("MOORAGE_TLS_CERT", tlsCert);
  const key = readSetting("MOORAGE_TLS_KEY", tlsKey);
  const certificate = parsed(
    "MOORAGE_TLS_CERT",
    `${tlsCert} holds no PEM certificate`,
    () => new X509Certificate(cert),
  );
  const privateKey = parsed("MOORAGE_TLS_KEY", `${tlsKey} holds no PEM private key`, () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw new ConfigError("MOORAGE_TLS_KEY: is not the key of the certificate in MOORAGE_TLS_CERT");
  return { cert, key };
}

function parsed<T>(name: string, problem: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new ConfigError(`${name}: ${problem}`, { cause: error });
  }
}

function settingAtFault(error: unknown): "MOORAGE_HOST" | "MOORAGE_PORT" {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "EADDRINUSE" || code === "EACCES" ? "MOORAGE_PORT" : "MOORAGE_HOST";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function readSetting(name: string, file: string): Buffer {
  try {
    return readFileSync(join(file));
  } catch (error) {
    throw new ConfigError(`${name}: cannot read ${file}`, { cause: error });
  }
}

/** A rule about addresses; a network in it that is none is its setting's fault. */
function addressRule<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
