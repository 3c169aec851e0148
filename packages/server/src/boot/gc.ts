import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { BlobStore } from "../blobs/index.ts";
import type { Clock } from "../lib/clock.ts";
import { ANONYMOUS } from "../core/call.ts";
import type { Config } from "../config.ts";
import { type Collected, collectGarbage } from "../oci/index.ts";
import { resolveRepository } from "../oci/names.ts";
import { type Chore, longestIntervalMs } from "../jobs/scheduler.ts";
import { refuseUnfinished } from "../installation/marker.ts";
import { openBlobsOf, requireNewest } from "../installation/stores.ts";
import { openStore, StoreError } from "../store/index.ts";
import type { Transactor } from "../core/transactor.ts";
import { openTransactor } from "../runtime/transactor.ts";

export interface GcOptions {
  /** Change nothing, and only count. */
  dryRun: boolean;
  /** The only image to be looked at, as `acme/team/api`. Absent: all of them, and what no repo holds. */
  repo?: string | undefined;
  /** In place of the setting's, in milliseconds. */
  graceMs?: number | undefined;
  /** Told of each repo in which something went, by the image's path. */
  onRepo?(name: string, collected: Collected): void;
  /** Ends it between two steps; it rejects then. */
  signal?: AbortSignal;
}

/**
 * Collects garbage once, as the server does by itself; servers may run, on either engine. Throws a StoreError in one
 * line when there is no installation, or no such repo.
 */
export async function collectInstallation(config: Config, options: GcOptions): Promise<Collected> {
  const store = await openStore(config);
  try {
    await requireNewest(store, config);
    await refuseUnfinished(store.reader);
    const blobs = await openBlobsOf(config);
    const { promise: broken, reject } = Promise.withResolvers<never>();
    // The commands of a collection seal nothing, give out no page tokens and know no methods.
    const writer = await openTransactor(store, {
      dataDir: config.dataDir,
      methods: new Map(),
      pageTokenKey: randomBytes(32),
      ownerRole: "",
      admins: [],
      secretKeys: [randomBytes(32)],
      eventsPrefix: config.eventsPrefix,
      onFault: reject,
    });
    try {
      const repo = options.repo === undefined ? undefined : await uidOf(writer, options.repo);
      return await Promise.race([
        broken,
        collectGarbage(
          { transactor: writer, blobs },
          {
            nowMs: Date.now(),
            graceMs: options.graceMs ?? config.gcGraceMs,
            uploadTtlMs: config.uploadTtlMs,
            repo,
            dryRun: options.dryRun,
            signal: options.signal ?? new AbortController().signal,
            ...(options.onRepo && { onRepo: options.onRepo }),
          },
        ),
      ]);
    } finally {
      await writer.close();
    }
  } finally {
    await store.close();
  }
}

/**
 * When space comes back after the last thing that needed it went: the grace, then a run begins within so long
 * (undefined: by command alone), and after a crash on the way it is so much later. In milliseconds.
 */
export function gcPromise({ gcIntervalMs, uploadTtlMs }: Pick<Config, "gcIntervalMs" | "uploadTtlMs">): {
  runWithinMs: number | undefined;
  afterCrashMs: number;
} {
  return {
    runWithinMs: gcIntervalMs === 0 ? undefined : longestIntervalMs(gcIntervalMs),
    afterCrashMs: uploadTtlMs + longestIntervalMs(),
  };
}

async function uidOf(transactor: Transactor, name: string): Promise<string> {
  const data = { caller: ANONYMOUS, requestId: "", nowMs: Date.now(), remoteAddress: "", userAgent: "" };
  const { repo } = await transactor.read(data, (call) => resolveRepository(call, name));
  if (repo === undefined) throw new StoreError(`there is no image ${name}`);
  return repo;
}

export interface CollectorDeps {
  transactor: Transactor;
  blobs: BlobStore;
  config: Pick<Config, "gcIntervalMs" | "gcGraceMs" | "uploadTtlMs">;
  clock: Clock;
  log: Logger;
  /** Told of each run that came to its end, and when. */
  ran(collected: Collected, atMs: number): void;
}

/**
 * The server's own collecting: a chore, none when the settings leave it to the command. `stop` waits for the step that
 * is under way.
 */
export function createCollector({ transactor, blobs, config, clock, log, ran }: CollectorDeps): {
  chores: Chore[];
  stop(): Promise<void>;
} {
  const stopping = new AbortController();
  const { gcIntervalMs: everyMs, gcGraceMs: graceMs, uploadTtlMs } = config;
  let running: Promise<unknown> = Promise.resolve();
  const run = async (): Promise<void> => {
    const nowMs = clock.nowMs();
    const collecting = collectGarbage(
      { transactor, blobs },
      { nowMs, graceMs, uploadTtlMs, dryRun: false, signal: stopping.signal },
    );
    running = collecting.catch(() => {});
    const collected = await collecting;
    const endedMs = clock.nowMs();
    ran(collected, endedMs);
    log.info({ ...collected, durationMs: endedMs - nowMs }, "garbage collected");
  };
  return {
    chores: everyMs === 0 ? [] : [{ work: "gc", everyMs, run }],
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
