import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { osvRecords, writeArchive } from "./feed-archive.ts";
import type { FeedResult, FeedWork } from "./feed-import.ts";
import { ask, SERVER_CORE } from "./processes.ts";
import { type Bench, count, type Row, type Sample, type Section } from "./rows.ts";

const TIMEOUT_MS = 600_000;

/** An archive of so many records, and the data folder of its last import. */
interface Feed {
  records: number;
  archive: string;
  mib: number;
  imported: string;
}

async function run(work: FeedWork): Promise<FeedResult> {
  rmSync(work.dataDir, { recursive: true, force: true });
  mkdirSync(work.dataDir, { recursive: true });
  return ask<FeedResult>(SERVER_CORE, "feed-import.ts", work, TIMEOUT_MS);
}

function makeFeed(scratch: string, records: number): Feed {
  const archive = join(scratch, `feed-${records}.zip`);
  const mib = writeArchive(archive, osvRecords(records)) / 2 ** 20;
  return { records, archive, mib, imported: join(scratch, `feed-${records}`) };
}

const importOf = ({ archive, imported }: Feed): Promise<FeedResult> =>
  run({ work: "import", dataDir: imported, archive });

/** An import of a feed into an empty database, against the inserts of the same rows by SQLite alone. */
export function feedSection({ scratch, sizes }: Bench): Section {
  let feed: Feed | undefined;
  const made = (): Feed => (feed ??= makeFeed(scratch, sizes.feedRecords));
  const sampleOf = ({ perSecond }: FeedResult): Sample => ({ rate: perSecond });
  const own = "inserts of the same rows, 200 records a transaction, SQLite alone";
  const rows: Row[] = [
    {
      title: `import of a feed of ${count(sizes.feedRecords)} records, SQLite`,
      unit: "/s",
      measure: async () => sampleOf(await importOf(made())),
      against: [{ title: own }],
    },
    {
      title: own,
      unit: "/s",
      measure: async () =>
        sampleOf(await run({ work: "alone", dataDir: join(scratch, "feed-alone"), from: made().imported })),
    },
  ];
  return { title: "import of feeds, SQLite", rows };
}

/** The peak of memory of an import of a feed without mapped files, and of one ten times as large. */
export async function feedPeaks({
  scratch,
  sizes,
}: Pick<Bench, "scratch" | "sizes">): Promise<{ mib: number; peakMib: number }[]> {
  const found: { mib: number; peakMib: number }[] = [];
  for (const records of [sizes.feedRecords, 10 * sizes.feedRecords]) {
    const feed = makeFeed(scratch, records);
    const { peakMib, mappedMib } = await importOf(feed);
    found.push({ mib: feed.mib, peakMib: peakMib - mappedMib });
    rmSync(feed.archive);
    rmSync(feed.imported, { recursive: true });
  }
  return found;
}
