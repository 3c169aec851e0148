// Layers that are unpacked and whose headers are read, by the libraries with which Moorage reads images, and
// nothing else, in its own process. Reads an UnpackAlone as JSON from standard input, and prints an UnpackResult.
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { Parser } from "tar";
import { answer } from "./processes.ts";

export interface UnpackAlone {
  /** Archives of gzip, the layers of an image. */
  files: string[];
  durationMs: number;
}

/** `bytes`: what the files unpack to, each time; `perSecond`: images; `cpuUs`: processor time for one. */
export interface UnpackResult {
  bytes: number;
  perSecond: number;
  cpuUs: number;
}

async function unpack(file: string): Promise<number> {
  const parser = new Parser({ filter: () => false });
  let bytes = 0;
  await pipeline(createReadStream(file), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      parser.write(chunk);
    }
  });
  parser.end();
  return bytes;
}

async function whole(files: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const file of files) bytes += await unpack(file);
  return bytes;
}

await answer<UnpackAlone>(async ({ files, durationMs }): Promise<UnpackResult> => {
  // The first time, code is compiled: a server has read images before.
  const bytes = await whole(files);
  const used = process.cpuUsage();
  const began = performance.now();
  let count = 0;
  do {
    await whole(files);
    count += 1;
  } while (performance.now() - began < durationMs);
  const { user, system } = process.cpuUsage(used);
  return { bytes, perSecond: (count * 1000) / (performance.now() - began), cpuUs: (user + system) / count };
});
