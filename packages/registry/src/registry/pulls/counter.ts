import { randomUUID } from "node:crypto";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { endPullCounter, writePulls } from "./commands.ts";
import {
  type AnsweredPull,
  type CountedPart,
  type CountedPulls,
  type LastPull,
  MAX_PART,
  type PulledContent,
} from "./parts.ts";
import { createRecentPulls } from "./recent.ts";
import { dayOf } from "./days.ts";

/** Counts pulls in memory and writes the sums, for which requests do not wait. */
export interface PullCounter {
  /**
   * Counts a pull. Returns immediately and never throws. The same object as `content` again is quicker than an equal
   * one.
   */
  note(content: PulledContent, pull: AnsweredPull): void;
  /** Writes what is still in memory. */
  close(): Promise<void>;
}

export interface PullCounterDeps {
  writer: CommandWriter;
  clock: Pick<Clock, "nowMs" | "agreedMs">;
  log: Record<"error" | "warn", (fields: object, message: string) => void>;
  /** Counts pulls that no statistics have. */
  lost(count: number): void;
  /** How often the sums are written, in milliseconds. */
  everyMs: number;
  /** The most sums in memory. Defaults to 10,000. */
  maxCounts?: number;
  /** The most last pulls in memory. Defaults to 100,000. */
  maxLast?: number;
}

const MAX_COUNTS = 10_000;
const MAX_LAST = 100_000;
/** The longest time in which a process that counts says nothing; see pull_counters. */
const HEARTBEAT_MS = 60_000;
/** How often it is logged that nothing can be written. */
const LOG_EVERY_MS = 60_000;

/**
 * Creates a counter. What cannot be written stays in memory until it can. When that is full, what is counted already is
 * counted on, and other pulls are lost and their day is marked; of last pulls there is space for ten times as many, and
 * when that ends, too, it is noted that what is pulled is known only from then on.
 */
export function createPullCounter(deps: PullCounterDeps): PullCounter {
  const { writer, clock, log, everyMs, maxCounts = MAX_COUNTS, maxLast = MAX_LAST } = deps;
  const counter = randomUUID();
  const counts = new Map<string, CountedPulls>();
  const lasts = new Map<string, LastPull>();
  const lost = new Map<number, number>();
  const recent = createRecentPulls<PulledContent>();
  let lostLast = false;
  let flushing: Promise<void> | undefined;
  let writtenMs = -Infinity;
  let loggedMs = -Infinity;

  /** The sum that the pulls are in; undefined when there is no space for them. */
  const count = (key: string, pulls: CountedPulls): CountedPulls | undefined => {
    const known = counts.get(key);
    if (known !== undefined) {
      known.count += pulls.count;
      known.bytes += pulls.bytes;
      known.firstMs = Math.min(known.firstMs, pulls.firstMs);
      known.lastMs = Math.max(known.lastMs, pulls.lastMs);
      return known;
    }
    if (counts.size < maxCounts) {
      counts.set(key, pulls);
      return pulls;
    }
    // A layer does not count as a pull, but its bytes are missing from the sums, too.
    lost.set(pulls.day, (lost.get(pulls.day) ?? 0) + pulls.count);
    deps.lost(Math.max(1, pulls.count));
    return undefined;
  };
  const noteLast = (key: string, last: LastPull): LastPull | undefined => {
    const known = lasts.get(key);
    if (known !== undefined) {
      known.timeMs = Math.max(known.timeMs, last.timeMs);
      return known;
    }
    if (lasts.size < maxLast) {
      lasts.set(key, last);
      return last;
    }
    lostLast = true;
    return undefined;
  };
  const take = (): { part: CountedPart; restore(): void } => {
    recent.clear();
    const pulls = taken(counts, MAX_PART);
    const last = taken(lasts, MAX_PART);
    const days = [...lost];
    const wasLost = lostLast;
    lost.clear();
    lostLast = false;
    return {
      part: {
        counter,
        pulls: textOf(pulls),
        last: textOf(last),
        lost: days.map(([day, number]) => ({ day, pulls: number })),
        lostLast: wasLost,
      },
      restore() {
        for (const [key, each] of pulls) count(key, each);
        for (const [key, each] of last) noteLast(key, each);
        for (const [day, number] of days) lost.set(day, (lost.get(day) ?? 0) + number);
        lostLast ||= wasLost;
      },
    };
  };
  const isEmpty = (): boolean => counts.size === 0 && lasts.size === 0 && lost.size === 0 && !lostLast;
  /** Answers whether it was written. */
  const flush = async (): Promise<boolean> => {
    const isDue = Math.abs(clock.agreedMs() - writtenMs) >= HEARTBEAT_MS;
    if (isEmpty() && !isDue) return true;
    do {
      const { part, restore } = take();
      try {
        await writer.write(writePulls, systemCallNow(clock), part);
        writtenMs = clock.agreedMs();
      } catch (error) {
        restore();
        if (clock.agreedMs() - loggedMs >= LOG_EVERY_MS) {
          loggedMs = clock.agreedMs();
          log.error({ err: error }, "writing the statistics of pulls failed; it is attempted again");
        }
        return false;
      }
    } while (!isEmpty());
    return true;
  };
  const flushOnce = (): Promise<void> =>
    (flushing ??= flush()
      .then(() => undefined)
      .finally(() => {
        flushing = undefined;
      }));
  const timer = setInterval(() => void flushOnce(), everyMs).unref();
  void flushOnce();

  return {
    note(content, pull) {
      if (recent.noteAgain(content, pull)) return;
      const { repo, tag, digest, type } = content;
      const { method, identity, bytes, nowMs } = pull;
      const day = dayOf(nowMs);
      const isManifest = type === "manifest";
      const key = isManifest ? `${repo} ${day} ${digest} ${tag} ${identity}` : `${repo} ${day} ${identity}`;
      const named = isManifest ? { tag, digest } : { tag: "", digest: "" };
      const pulls = isManifest ? 1 : 0;
      const sum =
        method === "GET"
          ? count(key, { day, repo, ...named, identity, count: pulls, bytes, firstMs: nowMs, lastMs: nowMs })
          : undefined;
      const last = isManifest ? noteLast(key, { repo, tag, digest, identity, timeMs: nowMs }) : undefined;
      recent.keep(content, { identity, day, pulls, sum, last });
    },
    async close() {
      clearInterval(timer);
      await flushOnce();
      // What came meanwhile; and without what could not be written it does not end as if nothing was lost.
      if (!(await flush())) return;
      // A process of an older version writes nothing any longer: the others then take the day for one with gaps.
      await writer
        .write(endPullCounter, systemCallNow(clock), { counter })
        .catch((error: unknown) => log.warn({ err: error }, "ending the statistics of pulls of this process failed"));
    },
  };
}

/** Takes at most so many entries out of the map. */
function taken<V>(map: Map<string, V>, max: number): [string, V][] {
  const entries: [string, V][] = [];
  for (const entry of map) if (entries.push(entry) === max) break;
  for (const [key] of entries) map.delete(key);
  return entries;
}

/** The values as JSON by their place, which every engine reads as rows. */
function textOf<V>(entries: readonly [string, V][]): string {
  return JSON.stringify({ ...entries.map(([, value]) => value) });
}
