import type { Config } from "@moorage/kernel/config";
import { createAddresses } from "@moorage/kernel/core/addresses";
import type { Clock } from "@moorage/kernel/lib/clock";
import { type Mirroring, mirrorMetrics, openMirroring } from "@moorage/registry/mirroring";
import {
  createGateRecorder,
  createPullCache,
  createPullRecorder,
  createSignatureRecorder,
  pullMetrics,
  type RegistryDeps,
} from "@moorage/registry/oci";
import { createPullCounter } from "@moorage/registry/registry";
import { createPullGate, isScanUnderWay } from "@moorage/security/security";
import { createSignatureGate } from "@moorage/registry/trust";
import type { Logger } from "pino";
import { statusJson } from "../transport/status.ts";
import type { Api } from "./api.ts";
import type { Base } from "./base.ts";
import type { Shutdown } from "./shutdown.ts";
import type { Storage } from "./storage.ts";

/** The dependencies of the registry's handlers. */
export interface OpenedRegistry {
  registry: RegistryDeps;
  mirroring: Mirroring;
}

export interface RegistryOptions {
  clock: Clock;
  log: Logger;
  /** Called when there are pulls that no event has reported yet. */
  pulled(): void;
}

/** The sums of pulls are written so many times as rarely as background work is looked for: every 5 s by default. */
const COUNTED_EVERY_POLLS = 5;

export function openRegistry(
  config: Config,
  { observation, store: { reader }, secrets }: Base,
  { blobs, transactor, context: { terms = [], pageTokenKey } }: Storage,
  { auditor, access }: Api,
  { clock, log, pulled }: RegistryOptions,
  shutdown: Shutdown,
): OpenedRegistry {
  const { dropped, gated, uncounted } = observation.of(pullMetrics);
  const pullRecorder = config.eventsPulls
    ? createPullRecorder({ writer: transactor, clock, log, kept: pulled, dropped })
    : undefined;
  shutdown.at("pull recorder", () => pullRecorder?.close());
  const everyMs = COUNTED_EVERY_POLLS * config.workPollMs;
  const pullCounter =
    config.pullsRetentionMs > 0
      ? createPullCounter({ writer: transactor, clock, log, lost: uncounted, everyMs })
      : undefined;
  shutdown.at("pull recorder", () => pullCounter?.close());
  const gateNotes = createGateRecorder({ writer: transactor, log, gated });
  shutdown.at("pull recorder", () => gateNotes.close());
  const signatureNotes = createSignatureRecorder({ writer: transactor, log, gated });
  shutdown.at("pull recorder", () => signatureNotes.close());
  const mirroring = openMirroring({
    transactor,
    blobs,
    secrets,
    clock,
    config,
    log,
    metrics: observation.of(mirrorMetrics),
  });
  shutdown.at("mirroring", () => mirroring.close());
  const registry: RegistryDeps = {
    transactor,
    auditor,
    pullRecorder,
    pullCounter,
    judgePull: createPullGate(),
    isScanUnderWay,
    gateNotes,
    judgeSigned: createSignatureGate(),
    signatureNotes,
    pulls: createPullCache(reader, access.isStillGood, config.gcGraceMs),
    blobs,
    upstream: mirroring.upstream,
    standIns: mirroring.standIns,
    centers: mirroring.centers,
    authenticate: access.authenticate,
    credentials: access,
    config,
    terms,
    pageTokenKey,
    addresses: createAddresses(config),
    clock,
    log,
    statusJson,
  };
  return { registry, mirroring };
}
