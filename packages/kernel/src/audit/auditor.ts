import { createLru } from "../lib/lru.ts";
import { networkOf } from "../lib/network.ts";
import type { CallData } from "../core/call.ts";
import type { AuditEvent } from "./entry.ts";
import { ENTRIES_PER_TRANSACTION, noteRejections, type Rejection } from "./commands.ts";
import { systemCall } from "../core/system-call.ts";

/**
 * Writes rejected requests to the audit log, outside of the transaction in which they were rejected, which is rolled
 * back.
 */
export interface Auditor {
  /** Queues an entry, which is written within a second. Returns immediately and never throws. */
  note(data: CallData, event: AuditEvent & { repository?: string }): void;
  /** Writes the entries that are still queued. */
  close(): Promise<void>;
}

/** The part of the transactor that an auditor uses. */
interface AuditWriter {
  write(command: typeof noteRejections, data: CallData, input: { rejections: Rejection[] }): Promise<void>;
}

export interface AuditorDeps {
  writer: AuditWriter;
  clock: { nowMs(): number };
  log: { error(fields: object, message: string): void };
  /** Called with the number of rejections that are not written. */
  dropped(count: number): void;
}

const FLUSH_EVERY_MS = 1000;
const MAX_WAITING = 10_000;
// At most this many entries per minute are written: of one kind from one address, and of all unauthenticated callers
// together. Further ones are only counted.
const WINDOW_MS = 60_000;
const MAX_OF_A_KIND = 20;
const MAX_UNAUTHENTICATED = 600;
const MAX_KINDS = 10_000;
const MAX_ATTEMPTS = 3;

/** Rejections of one kind in the minute since `startMs`. `last`: the most recent one that was not written. */
interface Kind {
  startMs: number;
  count: number;
  last: Rejection | undefined;
}

/**
 * An auditor that writes rejections in batches. Repeated rejections from one address, and rejections of unauthenticated
 * callers, are limited per minute: the first ones are written as they are; after the minute one more entry with the
 * detail `repeated` gives the number of the others of its kind.
 */
export function createAuditor({ writer, clock, log, dropped }: AuditorDeps): Auditor {
  const queue: Rejection[] = [];
  const kinds = createLru<string, Kind>(MAX_KINDS);
  const repeating = new Set<Kind>();
  let unauthenticated = { startMs: 0, count: 0 };
  let flushing: Promise<void> | undefined;

  const add = (rejection: Rejection): void => {
    queue.push(rejection);
    if (queue.length <= MAX_WAITING) return;
    queue.shift();
    dropped(1);
  };
  /**
   * Writes the number of further rejections for each kind whose minute has passed. `nowMs` is Infinity on closing: all
   * kinds.
   */
  const sumUp = (nowMs: number): void => {
    for (const kind of repeating) {
      if (nowMs - kind.startMs < WINDOW_MS) continue;
      repeating.delete(kind);
      if (kind.last !== undefined)
        add({ ...kind.last, details: { ...kind.last.details, repeated: String(kind.count - MAX_OF_A_KIND) } });
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
    if (kind.count <= MAX_OF_A_KIND) return false;
    if (repeating.size < MAX_KINDS || repeating.has(kind)) {
      kind.last = rejection;
      repeating.add(kind);
    } else dropped(1);
    return true;
  };
  const isOneUnauthenticatedTooMany = ({ data, identity }: Rejection): boolean => {
    if ((identity ?? data.caller.identity) !== "") return false;
    if (data.nowMs - unauthenticated.startMs >= WINDOW_MS) unauthenticated = { startMs: data.nowMs, count: 0 };
    unauthenticated.count += 1;
    return unauthenticated.count > MAX_UNAUTHENTICATED;
  };
  const flush = async (): Promise<void> => {
    while (queue.length > 0) {
      const rejections = queue.splice(0, ENTRIES_PER_TRANSACTION);
      for (let attempt = 1; ; attempt += 1) {
        try {
          await writer.write(noteRejections, systemCall(clock.nowMs()), { rejections });
          break;
        } catch (error) {
          if (attempt < MAX_ATTEMPTS) continue;
          dropped(rejections.length);
          log.error({ err: error, count: rejections.length }, "writing rejections to the audit log failed");
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
      if (isOneUnauthenticatedTooMany(rejection)) return dropped(1);
      add(rejection);
      if (queue.length >= ENTRIES_PER_TRANSACTION) void flushOnce();
    },
    async close() {
      clearInterval(timer);
      sumUp(Infinity);
      await flushOnce();
      await flushOnce();
    },
  };
}
