import { randomUUID } from "node:crypto";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { dayOf } from "@moorage/kernel/lib/days";
import { type CountWriter, rowsText, startCountWriter, takeEntries } from "@moorage/kernel/work";
import { endDownloadCounter, writeDownloads } from "./commands.ts";
import { type CountedDownloads, type DownloadedVersion, type DownloadPart, MAX_PART } from "./parts.ts";

/** Counts downloads in memory and writes the sums, for which requests do not wait. */
export interface DownloadCounter extends CountWriter {
  /** Counts a download. `identity`: empty without a log-in. Returns immediately and never throws. */
  note(downloaded: DownloadedVersion, by: { identity: string; nowMs: number }): void;
}

interface DownloadCounterDeps {
  writer: CommandWriter;
  clock: Pick<Clock, "nowMs" | "agreedMs">;
  log: Record<"error" | "warn", (fields: object, message: string) => void>;
  /** Counts downloads that no statistics have. */
  lost(count: number): void;
  /** How often the sums are written, in milliseconds. */
  everyMs: number;
  /** The most sums in memory. Defaults to 10,000. */
  maxCounts?: number;
}

const MAX_COUNTS = 10_000;

/**
 * Creates a counter. What cannot be written stays in memory until it can. When that is full, what is counted already is
 * counted on, and other downloads are lost and their day is marked.
 */
export function createDownloadCounter(deps: DownloadCounterDeps): DownloadCounter {
  const { writer, clock, log, everyMs, maxCounts = MAX_COUNTS } = deps;
  const counter = randomUUID();
  const counts = new Map<string, CountedDownloads>();
  const lost = new Map<number, number>();

  const count = (key: string, downloads: CountedDownloads): void => {
    const known = counts.get(key);
    if (known !== undefined) {
      known.count += downloads.count;
      known.lastMs = Math.max(known.lastMs, downloads.lastMs);
    } else if (counts.size < maxCounts) counts.set(key, downloads);
    else {
      lost.set(downloads.day, (lost.get(downloads.day) ?? 0) + downloads.count);
      deps.lost(downloads.count);
    }
  };
  const writing = startCountWriter<DownloadPart>({
    what: "downloads",
    clock,
    log,
    everyMs,
    isEmpty: () => counts.size === 0 && lost.size === 0,
    take() {
      const downloads = takeEntries(counts, MAX_PART);
      const days = [...lost];
      lost.clear();
      return {
        part: {
          counter,
          downloads: rowsText(downloads),
          lost: days.map(([day, number]) => ({ day, count: number })),
        },
        restore() {
          for (const [key, each] of downloads) count(key, each);
          for (const [day, number] of days) lost.set(day, (lost.get(day) ?? 0) + number);
        },
      };
    },
    write: (data, part) => writer.write(writeDownloads, data, part),
    end: (data) => writer.write(endDownloadCounter, data, { counter }),
  });
  return {
    note({ artifact, version }, { identity, nowMs }) {
      const day = dayOf(nowMs);
      count(`${version} ${day} ${identity}`, { artifact, version, day, identity, count: 1, lastMs: nowMs });
    },
    close: () => writing.close(),
  };
}
