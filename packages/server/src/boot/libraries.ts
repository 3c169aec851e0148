import type { Logger } from "pino";
import type { Config } from "@moorage/kernel/config";
import type { Clock } from "@moorage/kernel/lib/clock";
import {
  ecosystemsWith,
  libraryMetrics,
  openReading,
  openUpstreams,
  type Reading,
  type Upstreams,
} from "@moorage/libraries/libraries";
import type { Base } from "./base.ts";
import type { Shutdown } from "./shutdown.ts";
import type { Storage } from "./storage.ts";

/** What the protocols of libraries need beside the registry's dependencies. */
export interface OpenedLibraries {
  /** Those that are served. */
  ecosystems: ReturnType<typeof ecosystemsWith>;
  upstreams: Upstreams;
  reading: Reading;
}

export function openLibraries(
  config: Config,
  { observation, secrets, store }: Base,
  { blobs, transactor, context: { ecosystems = [] } }: Storage,
  { clock, log }: { clock: Clock; log: Logger },
  shutdown: Shutdown,
): OpenedLibraries {
  const reading = openReading({ log, ecosystems });
  const upstreams = openUpstreams({
    reading,
    transactor,
    blobs,
    secrets,
    clock,
    config,
    log,
    metrics: observation.of(libraryMetrics),
    // A data folder is that of one process, or of its workers.
    isShared: store.engine === "postgres" || config.workers > 1,
  });
  shutdown.at("mirroring", () => upstreams.close());
  // After the requests that are under way.
  shutdown.at("writer", () => reading.close());
  return { ecosystems: ecosystemsWith(ecosystems), upstreams, reading };
}
