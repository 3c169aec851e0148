import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { holdingHash, isForNow, noteSignaturePull, type SignatureNote } from "../../trust/index.ts";
import { createNoteRecorder, type NoteRecorder } from "./note-recorder.ts";

/** Has events emitted of what policies of signatures make of pulls. */
export type SignatureRecorder = NoteRecorder<SignatureNote>;

export interface SignatureRecorderDeps {
  writer: CommandWriter;
  log: { error(fields: object, message: string): void };
  /** Called for each pull: what became of it, and whether that is only until something is verified. */
  gated(outcome: "rejected" | "previewed", reason: "signatures" | "signatures_waiting"): void;
}

/** Creates a recorder. */
export function createSignatureRecorder({ writer, log, gated }: SignatureRecorderDeps): SignatureRecorder {
  const { note: write, close } = createNoteRecorder<SignatureNote>({
    writer,
    log,
    command: noteSignaturePull,
    keyOf: ({ repo, digest, action, isRejected, holding }) =>
      [repo, digest, action, isRejected, holdingHash(holding)].join(" "),
    what: "writing the event of a pull of an unsigned image",
  });
  return {
    note(data, note) {
      gated(note.isRejected ? "rejected" : "previewed", isForNow(note.holding) ? "signatures_waiting" : "signatures");
      write(data, note);
    },
    close,
  };
}
