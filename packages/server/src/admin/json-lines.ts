import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";

/** A line without its line feed, and the offset in bytes at which the next one begins. */
export interface Line {
  text: string;
  end: number;
}

/** The lines of a file from an offset in bytes on. */
export async function* linesOf(path: string, offset = 0): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let at = offset;
  for await (const chunk of createReadStream(path, {
    start: offset,
    highWaterMark: 1 << 20,
  }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let cut = chunk.indexOf(10); cut >= 0; cut = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, cut));
      const text = Buffer.concat(parts);
      at += text.length + 1;
      yield { text: text.toString("utf8"), end: at };
      parts = [];
      from = cut + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
}

/** Writes a text file piece by piece and syncs it to disk; returns its size and its SHA-256. */
export async function writeHashed(
  path: string,
  pieces: AsyncIterable<string>,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  await using file = await open(path, "w", 0o600);
  for await (const piece of pieces) {
    const data = Buffer.from(piece);
    hash.update(data);
    bytes += data.length;
    await file.writeFile(data);
  }
  await file.sync();
  return { bytes, sha256: hash.digest("hex") };
}

/** The digest of a file's content, as hex. */
export async function hashOf(
  path: string,
  algorithm = "sha256",
  onBytes: (bytes: number) => void = () => {},
): Promise<string> {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    onBytes(chunk.length);
  }
  return hash.digest("hex");
}
