import type { HeldFile } from "../held-file.ts";

const END = Buffer.from("PK\x05\x06", "latin1");
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const COPY_BYTES = 1024 * 1024;

/**
 * Where the zip archive in a file begins: behind the script of one that can be executed. 0 when nothing precedes it,
 * when its own places count from the beginning of the file, and when there is no end by which it could be known.
 * Source: APPNOTE, 4.3.16.
 */
function startOf(file: HeldFile): number {
  const tailAt = Math.max(0, file.size - END_BYTES - MAX_COMMENT_BYTES);
  const tail = file.bytes(tailAt, file.size - tailAt);
  const at = tail.lastIndexOf(END);
  if (at < 0 || at + END_BYTES > tail.length) return 0;
  const [size, offset] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
  return Math.max(0, tailAt + at - size - offset);
}

/** The file from where its zip archive begins: itself, or a copy of the rest, which the caller releases as well. */
export function withoutScript(file: HeldFile): HeldFile {
  if (file.bytes(0, 4).equals(Buffer.from("PK\x03\x04", "latin1"))) return file;
  const start = startOf(file);
  if (start === 0) return file;
  const rest = file.another();
  for (let at = start; at < file.size; at += COPY_BYTES) rest.write(file.bytes(at, COPY_BYTES));
  return rest;
}
