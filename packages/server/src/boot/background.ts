import { availableParallelism } from "node:os";
import type { Config } from "@moorage/kernel/config";
import type { Clock } from "@moorage/kernel/lib/clock";
import type { Wakes } from "@moorage/kernel/work";
import { backlogs, bodyTypes, eventMetrics, startHistoryWatch } from "@moorage/platform/events";
import { type SmtpSettings, startMails } from "@moorage/platform/mail";
import type { Presence } from "@moorage/platform/processes";
import { startDispatcher } from "@moorage/platform/webhooks";
import type { Mirroring } from "@moorage/registry/mirroring";
import { followMetrics, followsLateMs } from "@moorage/registry/upstreams";
import { openReplication, replicationFigures, replicationMetrics } from "@moorage/registry/replication";
import { evictionMetrics, startEvictions, startPullPublisher } from "@moorage/registry/oci";
import { cacheUses, quotaFigures, quotaMetrics, startQuotas } from "@moorage/registry/registry";
import {
  catalogMetrics,
  feedMetrics,
  feedStates,
  matchingMetrics,
  scanMetrics,
  startCatalogs,
  startMatching,
  startScans,
} from "@moorage/security/security";
import { startSignatures } from "@moorage/registry/trust";
import type { Logger } from "pino";
import { AREAS } from "../areas.ts";
import { startJobs } from "../jobs/jobs.ts";
import type { Api } from "./api.ts";
import type { Base } from "./base.ts";
import type { Shutdown } from "./shutdown.ts";
import type { Storage } from "./storage.ts";

/** Wakes the background work. Before that is started, nothing is woken. */
export interface Wakers {
  /** By what was committed. */
  wakes: Wakes;
  /** There are pulls that no event has reported yet. */
  pulled(): void;
}

/** The number of subscriptions whose backlogs `/metrics` has. */
const MAX_BACKLOGS = 100;

interface BackgroundOptions {
  clock: Clock;
  log: Logger;
  presence: Pick<Presence, "mayWrite">;
  /** The mail server; undefined where no mail is sent. */
  smtp: SmtpSettings | undefined;
}

/**
 * Starts the background work of this process: the jobs, the reading of images and the matching of what they hold, scans
 * by adapters, mails, the copying of mirrors, and the delivery of events.
 */
export async function startBackground(
  config: Config,
  { observation, store, secrets }: Base,
  { blobs, transactor }: Storage,
  { access, large, allMethods }: Api,
  mirroring: Mirroring,
  wakers: Wakers,
  { clock, log, presence, smtp }: BackgroundOptions,
  shutdown: Shutdown,
): Promise<void> {
  const { reader } = store;
  const { wakes } = wakers;
  observation.of(eventMetrics).watch(async () => ({
    nowMs: clock.nowMs(),
    backlogs: await backlogs(reader, { limit: MAX_BACKLOGS }),
  }));
  observation.of(quotaMetrics).watch(() => quotaFigures(reader));
  observation.of(feedMetrics).watch(async () => ({ nowMs: clock.nowMs(), feeds: await feedStates(reader) }));
  // On PostgreSQL this thread turns pulls into events; on SQLite the writer thread does, which may have a processor of
  // its own.
  const isShared = store.engine === "postgres" || availableParallelism() <= config.workers;
  const publisher = startPullPublisher({ writer: transactor, reader, clock, log, isShared });
  wakers.pulled = () => publisher.wake();
  shutdown.at("pull publisher", () => publisher.close());
  const history = await startHistoryWatch({
    reader,
    log,
    newest: observation.database.newestEvent,
    wentBack() {
      observation.database.wentBack();
      // Keys that were made since are gone, and older ones sign again.
      access.keyring.refresh();
    },
  });
  shutdown.at("jobs", () => history.stop());
  const jobs = await startJobs({
    transactor,
    wakes,
    reader,
    blobs,
    vexElsewhere: large.vexElsewhere,
    keyring: access.keyring,
    clock,
    log,
    config,
    metrics: (declared) => observation.of(declared),
    areas: AREAS,
    mayWrite: presence.mayWrite,
  });
  shutdown.at("jobs", () => jobs.stop());
  if (config.catalogImages) {
    const catalogs = startCatalogs({ transactor, wakes, clock, log, config, metrics: observation.of(catalogMetrics) });
    shutdown.at("jobs", () => catalogs.stop());
  }
  const signatures = startSignatures({ transactor, wakes, clock, log, config });
  shutdown.at("jobs", () => signatures.stop());
  const quotas = startQuotas({ transactor, wakes, clock, log, config });
  shutdown.at("jobs", () => quotas.stop());
  const ofEvictions = observation.of(evictionMetrics);
  ofEvictions.watch(() => cacheUses(reader));
  const evictions = startEvictions({ transactor, reader, blobs, wakes, clock, log, config, metrics: ofEvictions });
  shutdown.at("jobs", () => evictions.stop());
  const matching = startMatching({
    transactor,
    wakes,
    reader,
    clock,
    log,
    config,
    metrics: observation.of(matchingMetrics),
  });
  shutdown.at("jobs", () => matching.stop());
  if (config.scanConcurrency > 0) {
    const scans = startScans({
      transactor,
      wakes,
      tokens: access.tokens,
      secrets,
      clock,
      log,
      config,
      metrics: observation.of(scanMetrics),
      readElsewhere: large.readElsewhere,
    });
    shutdown.at("jobs", () => scans.stop());
  }
  const mails = startMails({ transactor, wakes, secrets, clock, log, smtp, config });
  shutdown.at("jobs", () => mails.stop());
  observation.of(followMetrics).watch(async () => await followsLateMs(reader, clock.nowMs()));
  mirroring.start(wakes);
  const ofReplication = observation.of(replicationMetrics);
  ofReplication.watch(async () => ({ nowMs: clock.nowMs(), figures: await replicationFigures(reader) }));
  const { tokens } = access;
  const replication = openReplication({
    transactor,
    blobs,
    secrets,
    tokens,
    metrics: ofReplication,
    clock,
    log,
    config,
  });
  shutdown.at("mirroring", () => replication.close());
  replication.start(wakes);
  const dispatcher = startDispatcher({
    transactor,
    reader,
    tokens: access.tokens,
    secrets,
    clock,
    metrics: observation.of(eventMetrics),
    log,
    bodyTypes: bodyTypes([...allMethods.values()].map(({ desc }) => desc)),
    config,
  });
  wakes.on("deliveries", dispatcher.wake);
  shutdown.at("requests", () => dispatcher.close());
}
