import type { Config } from "@moorage/kernel/config";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { createTurns } from "@moorage/kernel/lib/turns";
import type { Database } from "@moorage/kernel/store";
import { startWorker, type Wakes } from "@moorage/kernel/work";
import type { Logger } from "pino";
import { findImages } from "./find-images.ts";
import { identifyArchives } from "./identify-archives.ts";
import { lookAtImages } from "./look.ts";
import { matchChanges } from "./match-changes.ts";
import { matchPackages, type MatchingStep } from "./match-packages.ts";
import { emitNotices } from "./notices.ts";
import { restateFeeds } from "../trusted/restate-feeds.ts";
import { type MatchingBacklog, matchingBacklog, type MatchingWork, matchingWork } from "../causes/matching-state.ts";

/** What is counted. */
interface MatchingMetrics {
  opened(findings: number): void;
  closed(findings: number): void;
  /** Counts a step that took so many milliseconds. */
  step(ms: number): void;
  waiting(backlog: MatchingBacklog): void;
}

export interface MatchingDeps {
  transactor: CommandWriter;
  reader: Database;
  clock: Clock;
  log: Logger;
  metrics: MatchingMetrics;
  wakes: Wakes;
  config: Pick<Config, "workPollMs">;
}

const COUNT_EVERY_MS = 15_000;
// While another process imports a feed, of whose commits this one hears nothing.
const IMPORT_POLL_MS = 250;
// Between two steps requests go first, also where one thread does both.
const PAUSE_MS = 2;

type MatchingCommand = typeof identifyArchives | typeof matchPackages | typeof matchChanges | typeof restateFeeds;

/** What does this work, in its order: an archive that is identified is a package that is new. */
function commandsFor({ restated, archives, packages, changes }: MatchingWork): MatchingCommand[] {
  return [
    ...(restated ? [restateFeeds] : []),
    ...(archives ? [identifyArchives] : []),
    ...(archives || packages ? [matchPackages] : []),
    ...(changes ? [matchChanges] : []),
  ];
}

/**
 * Compares new packages and changed records with each other, as soon as they are committed, and emits the events of
 * the images whose findings have changed. Processes share the work: each step goes on from where the last one ended,
 * whoever did it, and is a transaction of its own.
 */
export function startMatching({ transactor, reader, clock, log, metrics, wakes, config }: MatchingDeps): {
  stop(): Promise<void>;
} {
  const { workPollMs: pollMs } = config;
  const stopping = new AbortController();
  let countedMs = -COUNT_EVERY_MS;
  const count = async (): Promise<void> => {
    if (clock.monotonicMs() - countedMs < COUNT_EVERY_MS) return;
    countedMs = clock.monotonicMs();
    metrics.waiting(await matchingBacklog(reader));
  };
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  const isStopped = (): boolean => stopping.signal.aborted;
  const step = async (command: MatchingCommand): Promise<MatchingStep> => {
    const startedMs = clock.monotonicMs();
    const done = await transactor.write(command, systemCallNow(clock), undefined);
    metrics.step(clock.monotonicMs() - startedMs);
    metrics.opened(done.opened);
    metrics.closed(done.closed);
    return done;
  };
  const look = (): Promise<MatchingWork> => matchingWork(reader, clock.nowMs());
  /** Answers when to look again, if that is soon. */
  const poll = async (): Promise<number | undefined> => {
    await count();
    let work: MatchingWork | undefined = await look();
    // Asked before all else: what is imported from here on is looked for again, also when the import has ended by then.
    const wasImporting = work.importing;
    // What comes while all else was compared waits for the next run: beside pushes it would come one by one.
    for (let isDone = false; !isDone && !isStopped();) {
      const commands = commandsFor((work ??= await look()));
      if (commands.length === 0) break;
      work = undefined;
      isDone = true;
      for (const command of commands) {
        if (isStopped()) return undefined;
        if (!(await step(command)).isDone) isDone = false;
      }
      await count();
      await pause();
    }
    const isHeldUp = await emit(work);
    return wasImporting || isHeldUp ? Math.min(IMPORT_POLL_MS, pollMs) : undefined;
  };
  // What one change does to an image is emitted together, so when all that is known was compared. Answers whether an
  // import has to end before the rest. `seen`: what there is to do, if nothing was done since that was asked.
  const emit = async (seen: MatchingWork | undefined): Promise<boolean> => {
    let work = seen;
    while (!isStopped()) {
      const { causes, checks, importing } = (work ??= await look());
      if (!causes && !checks) return false;
      if (importing) return true;
      if (commandsFor(work).length > 0) return false;
      if (causes) await transactor.write(findImages, systemCallNow(clock), undefined);
      else {
        const notices = await lookAtImages(reader, createTurns());
        await transactor.write(emitNotices, systemCallNow(clock), { notices });
      }
      work = undefined;
      await pause();
    }
    return false;
  };
  const worker = startWorker({ run: poll, pollMs, stopping, log, what: "matching packages with records" });
  wakes.on("matching", worker.wake);
  return { stop: worker.stop };
}
