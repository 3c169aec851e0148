import { randomUUID } from "node:crypto";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { dayOf } from "@moorage/kernel/lib/days";
import { rowsText, startCountWriter, takeEntries } from "@moorage/kernel/work";
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
    const pulls = takeEntries(counts, MAX_PART);
    const last = takeEntries(lasts, MAX_PART);
    const days = [...lost];
    const wasLost = lostLast;
    lost.clear();
    lostLast = false;
    return {
      part: {
        counter,
        pulls: rowsText(pulls),
        last: rowsText(last),
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
  const counting = startCountWriter({
    what: "pulls",
    clock,
    log,
    everyMs,
    isEmpty,
    take,
    write: (data, part: CountedPart) => writer.write(writePulls, data, part),
    end: (data) => writer.write(endPullCounter, data, { counter }),
  });

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
    close: () => counting.close(),
  };
}
