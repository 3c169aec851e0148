import type { Logger } from "pino";
import type { Config } from "@moorage/kernel/config";
import type { Clock } from "@moorage/kernel/lib/clock";
import {
  createDownloadCounter,
  downloadMetrics,
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
  /** Counts downloads. Undefined without a retention of statistics. */
  downloads: ReturnType<typeof createDownloadCounter> | undefined;
}

/** The sums of downloads are written as rarely as those of pulls, by default every 5 s. */
const COUNTED_EVERY_POLLS = 5;

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
  const downloads =
    config.pullsRetentionMs > 0
      ? createDownloadCounter({
          writer: transactor,
          clock,
          log,
          lost: observation.of(downloadMetrics).uncounted,
          everyMs: COUNTED_EVERY_POLLS * config.workPollMs,
        })
      : undefined;
  shutdown.at("pull recorder", () => downloads?.close());
  // After the requests that are under way.
  shutdown.at("writer", () => reading.close());
  return { ecosystems: ecosystemsWith(ecosystems), upstreams, reading, downloads };
}
