import { fromBufferPromise, openPromise, type ZipFile } from "yauzl";
import type { FoundPackages } from "../budget.ts";
import type { HeldFile } from "../held-file.ts";

const MAX_ENTRIES = 200_000;
const IN_MEMORY_BYTES = 8 * 1024 * 1024;

/** What is read of a zip archive. */
export interface ZipTexts {
  /** Whether the entry is read, by its name. */
  wants(name: string): boolean;
  /** The most bytes of one entry. */
  maxBytes: number;
}

/**
 * The entries of a zip archive that are wanted, as texts, one at a time. What is unpacked and entered counts for the
 * image. Throws when the archive is damaged or an entry is larger than allowed.
 */
export async function* zipTexts(
  file: HeldFile,
  { budget }: Pick<FoundPackages, "budget">,
  { wants, maxBytes }: ZipTexts,
): AsyncGenerator<{ name: string; text: string }> {
  const options = { lazyEntries: true, autoClose: false };
  let zip: ZipFile | undefined;
  try {
    zip = await (file.size <= IN_MEMORY_BYTES
      ? fromBufferPromise(file.whole(), options)
      : openPromise(file.path(), options));
    let entries = 0;
    for await (const entry of zip.eachEntry()) {
      budget.enter();
      entries += 1;
      if (entries > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} entries`);
      if (!wants(entry.fileName)) continue;
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of await zip.openReadStreamPromise(entry)) {
        bytes += (chunk as Buffer).length;
        budget.unpack((chunk as Buffer).length);
        if (bytes > maxBytes) throw new Error(`${entry.fileName.slice(0, 100)} has more than ${maxBytes} bytes`);
        chunks.push(chunk as Buffer);
      }
      yield { name: entry.fileName, text: Buffer.concat(chunks).toString("utf8") };
    }
  } finally {
    zip?.close();
  }
}
