import { type FeedFormat, isSnapshot } from "../records/formats.ts";
import type { ImportSource } from "./import.ts";
import { storedRecord } from "./stored-record.ts";

/**
 * A file, a folder, or an archive as the source of an import. `isPart`: it does not have all records of the feed, which
 * is the default for a single record or document. Throws a SourceError when it cannot be opened.
 */
export async function fileSource(format: FeedFormat, file: string, isPart?: boolean): Promise<ImportSource> {
  // Loaded on first use: the readers bring a JSON schema, and libraries that a server without feeds does not need.
  const { kindOf } = await import("./parts.ts");
  const kind = await kindOf(file);
  const isOneFile = kind === "plain" || kind === "gzip";
  return {
    isSnapshot: isPart === undefined ? isSnapshot(format, { isOneFile }) : !isPart,
    async *read() {
      const { readFeed } = await import("./read.ts");
      for await (const { record, problem } of readFeed(format, file))
        yield record === undefined ? { problem } : { stored: storedRecord(record) };
    },
  };
}
