import { systemCallNow } from "../core/system-call.ts";
import type { CallData } from "../core/call.ts";
import type { Clock } from "../lib/clock.ts";

/** What was counted in memory is written by this, for which requests do not wait. */
export interface CountWriter {
  /** Writes what is still in memory. */
  close(): Promise<void>;
}

/** What one transaction writes of what was counted. */
interface TakenPart<P> {
  part: P;
  /** Puts it back into memory: it could not be written. */
  restore(): void;
}

interface CountWriterOptions<P> {
  /** What is counted, for the log: `pulls`. */
  what: string;
  clock: Pick<Clock, "nowMs" | "agreedMs">;
  log: Record<"error" | "warn", (fields: object, message: string) => void>;
  /** How often is written, in milliseconds. */
  everyMs: number;
  isEmpty(): boolean;
  /** Takes a part out of memory. */
  take(): TakenPart<P>;
  write(data: CallData, part: P): Promise<void>;
  /** Notes that all is written, and that this process counts no more. */
  end(data: CallData): Promise<void>;
}

/** The longest time in which a process that counts says nothing: others take it for crashed after three times that. */
const HEARTBEAT_MS = 60_000;
/** How often it is logged that nothing can be written. */
const LOG_EVERY_MS = 60_000;

/** Writes what was counted from time to time. What cannot be written stays in memory until it can. */
export function startCountWriter<P>(options: CountWriterOptions<P>): CountWriter {
  const { what, clock, log, everyMs, isEmpty, take, write, end } = options;
  let flushing: Promise<void> | undefined;
  let writtenMs = -Infinity;
  let loggedMs = -Infinity;

  /** Answers whether it was written. */
  const flush = async (): Promise<boolean> => {
    const isDue = Math.abs(clock.agreedMs() - writtenMs) >= HEARTBEAT_MS;
    if (isEmpty() && !isDue) return true;
    do {
      const { part, restore } = take();
      try {
        await write(systemCallNow(clock), part);
        writtenMs = clock.agreedMs();
      } catch (error) {
        restore();
        if (clock.agreedMs() - loggedMs >= LOG_EVERY_MS) {
          loggedMs = clock.agreedMs();
          log.error({ err: error }, `writing the statistics of ${what} failed; it is attempted again`);
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
    async close() {
      clearInterval(timer);
      await flushOnce();
      // What came meanwhile; and without what could not be written it does not end as if nothing was lost.
      if (!(await flush())) return;
      // A process of an older version writes nothing any longer: the others then take the day for one with gaps.
      await end(systemCallNow(clock)).catch((error: unknown) =>
        log.warn({ err: error }, `ending the statistics of ${what} of this process failed`),
      );
    },
  };
}

/** Takes at most so many entries out of the map. */
export function takeEntries<V>(map: Map<string, V>, max: number): [string, V][] {
  const entries: [string, V][] = [];
  for (const entry of map) if (entries.push(entry) === max) break;
  for (const [key] of entries) map.delete(key);
  return entries;
}

/** The values as JSON by their place, which every engine reads as rows. */
export function rowsText<V>(entries: readonly [string, V][]): string {
  return JSON.stringify({ ...entries.map(([, value]) => value) });
}
