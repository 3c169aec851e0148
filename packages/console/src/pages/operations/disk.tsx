import type { DiskSpace, Installation } from "../../api/gen/operations.ts";
import { bytes } from "../../lib/bytes.ts";
import { Note } from "../../ui/note.tsx";
import type { NumberFact } from "../../ui/numbers.tsx";
import { isLittle } from "./disk-words.ts";

/** What is left on the server's own disk: none where nothing of it lies there. */
export function diskFacts({ engine, blobStore, disk }: Installation): NumberFact[] {
  if (disk !== undefined)
    return [{ label: "Free disk", value: bytes(disk.freeBytes), note: `of ${bytes(disk.totalBytes)}` }];
  if (engine !== "sqlite" && blobStore !== "files") return [];
  return [{ label: "Free disk", value: "not known", note: "the disk did not respond" }];
}

/** A warning while little is left. */
export function LittleSpace({ disk }: { disk: DiskSpace | undefined }) {
  if (disk === undefined || !isLittle(disk)) return null;
  return (
    <Note look="warning">
      Little disk space is left: {bytes(disk.freeBytes)} of {bytes(disk.totalBytes)} are free. When it is full, pushes
      are refused. Garbage collection below says what it would free.
    </Note>
  );
}
