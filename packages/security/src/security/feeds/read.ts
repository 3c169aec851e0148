import { alpineRecords } from "./alpine.ts";
import { debianRecords } from "./debian.ts";
import { endOfLifeRecords } from "./endoflife.ts";
import { epssRecords } from "./epss.ts";
import type { FeedFormat } from "../records/formats.ts";
import { kevRecords } from "./kev.ts";
import { osvRecords } from "./osv.ts";
import { type Part, partsOf, SOURCE_LIMITS } from "./parts.ts";
import { problemOf, type Read, SourceError, SourceTooLarge, UnreadableRecord } from "../records/record.ts";
import { csafRecords, cycloneDxRecords, openVexRecords } from "./vex.ts";

const READERS: Record<FeedFormat, (part: Part) => AsyncIterable<Read>> = {
  osv: osvRecords,
  "alpine-secdb": alpineRecords,
  "debian-tracker": debianRecords,
  openvex: openVexRecords,
  "csaf-vex": csafRecords,
  "cyclonedx-vex": cycloneDxRecords,
  kev: kevRecords,
  epss: epssRecords,
  endoflife: endOfLifeRecords,
};

/**
 * The records of a source, and the problems of what cannot be read: a file, a folder, a zip archive or a gzip file. In
 * bounded memory, whatever the source has. Throws a SourceError when it cannot be read as a whole.
 */
export async function* readFeed(format: FeedFormat, source: string, limits = SOURCE_LIMITS): AsyncGenerator<Read> {
  for await (const part of partsOf(source, limits)) {
    try {
      yield* READERS[format](part);
    } catch (error) {
      if (part.isWhole) throw error;
      // A damaged document in an archive or a folder leaves the others readable.
      const isOfPart = error instanceof SourceError && !(error instanceof SourceTooLarge);
      yield problemOf(isOfPart ? new UnreadableRecord(error.message) : error, part.name);
    }
  }
}
