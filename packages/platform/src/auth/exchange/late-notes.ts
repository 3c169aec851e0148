import type { AuditEvent } from "@moorage/kernel/audit";
import type { CallData } from "@moorage/kernel/core/call";
import { systemCall } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { noteAllSeen, noteSeen } from "../tokens/commands.ts";

/** What is noted of an identity's use: when it was seen, and the audit entry if there is one. */
interface UseNote {
  identity: string;
  event?: AuditEvent;
}

/** Writes notes; those that the storage has no space for are written later. */
export interface LateNotes {
  write(note: UseNote, data: CallData): Promise<void>;
  /** Notes that the identity was seen at this time, to be written within half a second together with others. */
  seen(identity: string, timeMs: number): void;
  /** Keeps a note that could not be written. */
  keep(note: UseNote, data: CallData): void;
  /** Writes what waits; what cannot be written then is lost. */
  close(): Promise<void>;
}

const MAX_KEPT = 10_000;
const SEEN_WITHIN_MS = 500;
const RETRY_MS = 5_000;

/**
 * Notes wait in memory, at most 10,000 of them, of which the oldest are lost first with a line in the log: a full disk
 * must not keep out identities that are there.
 */
export function createLateNotes(
  writer: CommandWriter,
  log: { info(fields: object, message: string): void },
): LateNotes {
  const kept: { note: UseNote; data: CallData }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const flush = async (): Promise<void> => {
    timer = undefined;
    try {
      for (let next = kept[0]; next !== undefined; next = kept[0]) {
        await writer.write(noteSeen, next.data, next.note);
        kept.shift();
      }
    } catch {
      schedule();
    }
  };
  const schedule = (): void => {
    if (closed) return;
    timer ??= setTimeout(() => void flush(), RETRY_MS).unref();
  };
  const keep = (note: UseNote, data: CallData): void => {
    if (kept.push({ note, data }) > MAX_KEPT) {
      kept.shift();
      log.info({}, "an audit entry of a token is lost: storage is full");
    }
    schedule();
  };
  let seen = new Map<string, number>();
  const flushSeen = async (): Promise<void> => {
    if (seen.size === 0) return;
    const times = [...seen];
    seen = new Map();
    try {
      await writer.write(noteAllSeen, systemCall(Math.max(...times.map(([, timeMs]) => timeMs))), { times });
    } catch (error) {
      // Whoever is seen again is noted again.
      log.info({ err: error }, "when identities were last seen could not be written");
    }
  };
  return {
    keep,
    async close() {
      closed = true;
      clearTimeout(timer);
      await flushSeen();
      await flush();
    },
    seen(identity, timeMs) {
      if (seen.size === 0) setTimeout(() => void flushSeen(), SEEN_WITHIN_MS).unref();
      seen.set(identity, timeMs);
    },
    async write(note, data) {
      try {
        await writer.write(noteSeen, data, note);
      } catch (error) {
        if (!isStorageFull(error)) throw error;
        keep(note, data);
      }
    },
  };
}

/** Whether a write failed because the storage has no space. */
export function isStorageFull(error: unknown): boolean {
  return error instanceof MoorageError && error.code === Code.ResourceExhausted;
}
