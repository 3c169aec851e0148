import { createLru } from "../lib/lru.ts";
import type { CallData } from "../core/call.ts";
import type { AuditEvent } from "./entry.ts";
import { ENTRIES_AT_ONCE, noteRejections, type Rejection } from "./commands.ts";
import { systemCall } from "../core/system-call.ts";

/** Notes what was refused: outside of a transaction, for the one it was refused in is gone. */
export interface Auditor {
  /** Takes it down, to be written within a second. Never throws, never waits. */
  note(data: CallData, event: AuditEvent & { repository?: string }): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

/** The part of the transactor that an auditor uses. */
export interface AuditWriter {
  write(command: typeof noteRejections, data: CallData, input: { rejections: Rejection[] }): Promise<void>;
}

export interface AuditorDeps {
  writer: AuditWriter;
  clock: { nowMs(): number };
  log: { error(fields: object, message: string): void };
  /** Told of refusals that are not written. */
  dropped(count: number): void;
}

const FLUSH_EVERY_MS = 1000;
const MAX_WAITING = 10_000;
// Of one kind from one address, and of all from nobody known, so many a minute are written; more are counted.
const WINDOW_MS = 60_000;
const MOST_OF_A_KIND = 20;
const MOST_OF_STRANGERS = 600;
const MAX_KINDS = 10_000;
const MAX_ATTEMPTS = 3;

/** Rejections of one kind in the minute since `startMs`. `last`: the last of those that were not written. */
interface Kind {
  startMs: number;
  count: number;
  last: Rejection | undefined;
}

/**
 * An auditor that writes some refusals at a time. What one address is refused over and over, and what nobody known is
 * refused at all, is written only so often a minute: the first ones as they are, and when the minute is over one more
 * with `repeated`, the number of those that came after them.
 */
export function createAuditor({ writer, clock, log, dropped }: AuditorDeps): Auditor {
  const queue: Rejection[] = [];
  const kinds = createLru<string, Kind>(MAX_KINDS);
  const repeating = new Set<Kind>();
  let strangers = { startMs: 0, count: 0 };
  let flushing: Promise<void> | undefined;

  const add = (rejection: Rejection): void => {
    queue.push(rejection);
    if (queue.length <= MAX_WAITING) return;
    queue.shift();
    dropped(1);
  };
  /** Writes down how many more there were of kinds whose minute is over; of all of them at the end. */
  const sumUp = (nowMs: number): void => {
    for (const kind of repeating) {
      if (nowMs - kind.startMs < WINDOW_MS) continue;
      repeating.delete(kind);
      if (kind.last !== undefined)
        add({ ...kind.last, details: { ...kind.last.details, repeated: String(kind.count - MOST_OF_A_KIND) } });
      kind.last = undefined;
    }
  };
  const isTooMuch = (rejection: Rejection): boolean => {
    const { data, method, code = 0 } = rejection;
    const key = JSON.stringify([
      networkOf(data.remoteAddress),
      rejection.identity ?? data.caller.identity,
      method,
      code,
    ]);
    const known = kinds.get(key);
    const kind =
      known !== undefined && data.nowMs - known.startMs < WINDOW_MS
        ? known
        : { startMs: data.nowMs, count: 0, last: undefined };
    if (kind !== known) kinds.set(key, kind);
    kind.count += 1;
    if (kind.count <= MOST_OF_A_KIND) return false;
    if (repeating.size < MAX_KINDS || repeating.has(kind)) {
      kind.last = rejection;
      repeating.add(kind);
    } else dropped(1);
    return true;
  };
  const isOneStrangerTooMany = ({ data, identity }: Rejection): boolean => {
    if ((identity ?? data.caller.identity) !== "") return false;
    if (data.nowMs - strangers.startMs >= WINDOW_MS) strangers = { startMs: data.nowMs, count: 0 };
    strangers.count += 1;
    return strangers.count > MOST_OF_STRANGERS;
  };
  const flush = async (): Promise<void> => {
    while (queue.length > 0) {
      const rejections = queue.splice(0, ENTRIES_AT_ONCE);
      for (let tries = 1; ; tries += 1) {
        try {
          await writer.write(noteRejections, systemCall(clock.nowMs()), { rejections });
          break;
        } catch (error) {
          if (tries < MAX_ATTEMPTS) continue;
          dropped(rejections.length);
          log.error({ err: error, count: rejections.length }, "writing refusals to the audit log failed");
          break;
        }
      }
    }
  };
  const flushOnce = (): Promise<void> =>
    (flushing ??= flush().finally(() => {
      flushing = undefined;
    }));
  const timer = setInterval(() => {
    sumUp(clock.nowMs());
    void flushOnce();
  }, FLUSH_EVERY_MS).unref();

  return {
    note(data, event) {
      const rejection = { ...event, data };
      if (isTooMuch(rejection)) return;
      if (isOneStrangerTooMany(rejection)) return dropped(1);
      add(rejection);
      if (queue.length >= ENTRIES_AT_ONCE) void flushOnce();
    },
    async close() {
      clearInterval(timer);
      sumUp(Infinity);
      await flushOnce();
      await flushOnce();
    },
  };
}

/** Who has an IPv6 address has a network of them: all that share its first half are one. */
function networkOf(address: string): string {
  return address.includes(":") && !address.includes(".") ? address.split(":").slice(0, 4).join(":") : address;
}
