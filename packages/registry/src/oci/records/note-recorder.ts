import type { CallData } from "@moorage/kernel/core/call";
import type { Command } from "@moorage/kernel/core/command";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { createLru } from "@moorage/kernel/lib/lru";

/** Has events emitted of what gates make of pulls, which do not wait for them. */
export interface NoteRecorder<N> {
  /** Never throws and never waits. */
  note(data: CallData, note: N): void;
  /** Waits for the writes under way. */
  close(): Promise<void>;
}

export interface NoteRecorderOptions<N> {
  writer: CommandWriter;
  log: { error(fields: object, message: string): void };
  /** Decides whether there is an event, and emits it. */
  command: Command<N, void>;
  /** Equal for what need not be written again soon. */
  keyOf(note: N): string;
  /** What could not be written, for the log. */
  what: string;
}

const MAX_KNOWN = 10_000;
/** Beyond so many writes under way a pull is not noted; the next one of the image is. */
const MAX_UNDER_WAY = 100;
// The command decides whether there is an event. For so long it is not asked again by this process about the same, so
// that of a busy image only few pulls write.
const AGAIN_AFTER_MS = 10 * 60_000;

/** Creates a recorder of what the command writes. */
export function createNoteRecorder<N>({ writer, log, command, keyOf, what }: NoteRecorderOptions<N>): NoteRecorder<N> {
  const notedMs = createLru<string, number>(MAX_KNOWN);
  const underWay = new Set<Promise<void>>();
  return {
    note(data, note) {
      const key = keyOf(note);
      const known = notedMs.get(key);
      if (known !== undefined && Math.abs(data.nowMs - known) < AGAIN_AFTER_MS) return;
      if (underWay.size >= MAX_UNDER_WAY) return;
      notedMs.set(key, data.nowMs);
      const writing = writer
        .write(command, data, note)
        .catch((error: unknown) => log.error({ err: error }, `${what} failed`))
        .finally(() => underWay.delete(writing));
      underWay.add(writing);
    },
    async close() {
      await Promise.all(underWay);
    },
  };
}
