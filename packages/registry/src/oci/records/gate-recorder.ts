import type { CallData } from "@moorage/kernel/core/call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { createLru } from "@moorage/kernel/lib/lru";
import { findingsHash, type GateNote, type GateOutcome, noteGatedPull, outcomeOf } from "../../registry/index.ts";

/** Has events emitted of what gates make of pulls, which do not wait for them. */
export interface GateRecorder {
  /** Never throws and never waits. */
  note(data: CallData, note: GateNote): void;
  /** Waits for the writes under way. */
  close(): Promise<void>;
}

export interface GateRecorderDeps {
  writer: CommandWriter;
  log: { error(fields: object, message: string): void };
  /** Called for each pull: what became of it, and whether that is for findings or for what is not known. */
  gated(outcome: GateOutcome, reason: "findings" | "unknown" | "waiting"): void;
}

const MAX_KNOWN = 10_000;
/** Beyond so many writes under way a pull is not noted; the next one of the image is. */
const MAX_UNDER_WAY = 100;
// The command decides whether there is an event. For so long it is not asked again by this process about the same image
// and findings, so that of a busy image only few pulls write.
const AGAIN_AFTER_MS = 10 * 60_000;

/** Creates a recorder. */
export function createGateRecorder({ writer, log, gated }: GateRecorderDeps): GateRecorder {
  const notedMs = createLru<string, number>(MAX_KNOWN);
  const underWay = new Set<Promise<void>>();
  return {
    note(data, note) {
      const { count, unknown } = note.verdict;
      gated(outcomeOf(note), count > 0 ? "findings" : unknown.some(({ waits }) => waits) ? "waiting" : "unknown");
      const key = [note.repo, note.digest, note.action, note.isRejected, findingsHash(note.verdict)].join(" ");
      const known = notedMs.get(key);
      if (known !== undefined && Math.abs(data.nowMs - known) < AGAIN_AFTER_MS) return;
      if (underWay.size >= MAX_UNDER_WAY) return;
      notedMs.set(key, data.nowMs);
      const writing = writer
        .write(noteGatedPull, data, note)
        .catch((error: unknown) => log.error({ err: error }, "writing the event of a gated pull failed"))
        .finally(() => underWay.delete(writing));
      underWay.add(writing);
    },
    async close() {
      await Promise.all(underWay);
    },
  };
}
