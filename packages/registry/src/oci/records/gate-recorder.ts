import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { findingsHash, type GateNote, type GateOutcome, noteGatedPull, outcomeOf } from "../../registry/index.ts";
import { createNoteRecorder, type NoteRecorder } from "./note-recorder.ts";

/** Has events emitted of what gates make of pulls. */
export type GateRecorder = NoteRecorder<GateNote>;

export interface GateRecorderDeps {
  writer: CommandWriter;
  log: { error(fields: object, message: string): void };
  /** Called for each pull: what became of it, and whether that is for findings or for what is not known. */
  gated(outcome: GateOutcome, reason: "findings" | "unknown" | "waiting"): void;
}

/** Creates a recorder. */
export function createGateRecorder({ writer, log, gated }: GateRecorderDeps): GateRecorder {
  const { note: write, close } = createNoteRecorder<GateNote>({
    writer,
    log,
    command: noteGatedPull,
    keyOf: ({ repo, digest, action, isRejected, verdict }) =>
      [repo, digest, action, isRejected, findingsHash(verdict)].join(" "),
    what: "writing the event of a gated pull",
  });
  return {
    note(data, note) {
      const { count, unknown } = note.verdict;
      gated(outcomeOf(note), count > 0 ? "findings" : unknown.some(({ waits }) => waits) ? "waiting" : "unknown");
      write(data, note);
    },
    close,
  };
}
