import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DeltaAlone, DeltaAloneResult } from "./delta-alone.ts";
import { writeArchive } from "./feed-archive.ts";
import type { DeltaResult, FeedDelta } from "./feed-delta.ts";
import { textOf } from "./images.ts";
import type { Installation } from "./installations.ts";
import { PLACE } from "./load.ts";
import { type Moorage, type Place, startMoorage } from "./moorage.ts";
import { queried } from "./query.ts";
import { ask, forgetPeak, mappedMib, peakMib, SERVER_CORE, stop } from "./processes.ts";
import { alone, type AloneWork, type Bench, count, get, overHttp, type Row, type Section } from "./rows.ts";
import {
  COMMON,
  componentsOf,
  cveOf,
  EACH_MANY,
  FEED,
  FIXED,
  MANY_PACKAGES,
  recordId,
  recordsOf,
  recordText,
} from "./seed-images.ts";

const DELTA_TIMEOUT_MS = 3_000_000;
// "A million components, a thousand changed records: seconds."
const MOST_DELTA_MS = 10_000;
const PAGE = 50;
const REPORT_PAGE = 200;
const CALLERS = 8;
const POSTGRES_CONNECTIONS = 10;
const CVES = 2_000;
const DETAILS = 1_024;

/** A server with images whose packages have findings. */
export interface ImagesServer {
  moorage: Moorage;
  place: Place;
  /** Those with many packages. */
  large: { repo: string; digest: string }[];
}

/** Starts the server at the first call. */
export function imagesServer(
  bench: Pick<Bench, "engine" | "sizes">,
  install: () => Promise<Installation>,
  helpersCpuUs: () => number | undefined,
  onClose: (close: () => Promise<void>) => void,
): () => Promise<ImagesServer> {
  let opened: Promise<ImagesServer> | undefined;
  const open = async (): Promise<ImagesServer> => {
    const { place } = await install();
    const moorage = await startMoorage(place, { helpersCpuUs });
    onClose(() => stop(moorage.process));
    const large = await queried<{ repo: string; digest: string }>(
      place,
      `select m.repo, m.digest from manifests as m where exists (select 1 from image_packages as i where i.digest = m.digest and i.source = 'layers' and i.n = ${MANY_PACKAGES - 1})`,
    );
    if (large.length !== Math.ceil(bench.sizes.images / EACH_MANY)) throw new Error(`${large.length} large images`);
    return { moorage, place, large };
  };
  return () => (opened ??= open());
}

/** A change of a feed over many images, and what is asked about findings. */
export function findingsSection(bench: Bench, opened: () => Promise<ImagesServer>): Section {
  const { engine } = bench;
  return {
    title: `findings, ${engine}`,
    rows: [...deltaRows(bench, opened), ...reportRows(bench, opened), ...cveRows(bench, opened)],
  };
}

/** Imports the changed records, and waits until the server has compared them; `n` counts from 0. */
async function runDelta(bench: Pick<Bench, "scratch" | "sizes">, { place }: ImagesServer, n: number) {
  const { deltaRecords, images } = bench.sizes;
  const folder = join(bench.scratch, "delta");
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, `${n}.zip`);
  const [before, after] = n % 2 === 0 ? [FIXED, FIXED + 1] : [FIXED + 1, FIXED];
  const step = recordsOf(images) / deltaRecords;
  const records = Array.from({ length: deltaRecords }, (_, index) => {
    const record = Math.floor(index * step);
    const details = `${n} ${textOf(DETAILS)}`;
    const padded = String(record).padStart(7, "0");
    return { id: recordId(record), content: recordText({ n: record, padded, details, fixed: after }) };
  });
  writeArchive(archive, records);
  const work: FeedDelta = { ...place, feed: FEED, archive };
  const result = await ask<DeltaResult>(SERVER_CORE, "feed-delta.ts", work, DELTA_TIMEOUT_MS);
  rmSync(archive);
  const found = [result.changed, result.opened, result.closed];
  const expected = [deltaRecords, deltaRecords * after, deltaRecords * before];
  if (String(found) !== String(expected))
    throw new Error(`changed records, opened and closed findings: ${String(found)} in place of ${String(expected)}`);
  return result;
}

function deltaRows(bench: Bench, opened: () => Promise<ImagesServer>): Row[] {
  const { engine, sizes } = bench;
  const { deltaRecords, images } = sizes;
  const over = `${count(images)} images with ${count(componentsOf(images))} components`;
  const own = `the statements of such a change alone, ${engine}`;
  let done = 0;
  let last: DeltaResult | undefined;
  let usedUs: number | undefined;
  return [
    {
      title: `a feed's change of ${count(deltaRecords)} records over ${over}, ${engine}`,
      unit: "ms",
      prepare: async () => void (await opened()),
      async measure() {
        const { cpuUs } = (await opened()).moorage;
        const beforeUs = cpuUs();
        last = await runDelta(bench, await opened(), done++);
        const afterUs = cpuUs();
        usedUs = beforeUs === undefined || afterUs === undefined ? undefined : afterUs - beforeUs + last.importCpuUs;
        return { rate: last.ms };
      },
      against: [{ title: own }],
      most: MOST_DELTA_MS,
    },
    {
      title: `a feed's change until its events are emitted, ${engine}`,
      unit: "ms",
      async measure() {
        if (last === undefined) throw new Error("nothing was changed before");
        return { rate: last.emittedMs, ...(usedUs !== undefined && { cpuUs: usedUs }) };
      },
    },
    {
      title: own,
      unit: "ms",
      async measure() {
        const { place } = await opened();
        if (last === undefined) throw new Error("nothing was changed before");
        const database = place.env["MOORAGE_DATABASE_URL"] ?? join(place.dataDir, "moorage.db");
        const work: DeltaAlone = { database, engine, feed: FEED, change: last.change, startedMs: last.startedMs };
        const { ms } = await ask<DeltaAloneResult>(SERVER_CORE, "delta-alone.ts", work, DELTA_TIMEOUT_MS);
        return { rate: ms };
      },
    },
  ];
}

/** What is asked again and again with other values: the paths, and the statement alone with the same values. */
interface Asked {
  title: string;
  paths(server: ImagesServer): string[];
  text: string;
  keys(server: ImagesServer): string[][];
}

function askedRows(bench: Bench, opened: () => Promise<ImagesServer>, { title, paths, text, keys }: Asked): Row[] {
  const { engine, scratch } = bench;
  const own = `the statement of ${title} alone, ${engine}`;
  const fill = join(scratch, `${title} ${engine}`.replaceAll(/[^a-zA-Z0-9]+/g, "-"));
  return [
    {
      title: own,
      unit: "/s",
      prepare: async () => void (await opened()),
      async measure(round) {
        const server = await opened();
        return alone(workOf(server, text, keys(server)), engine === "SQLite" ? undefined : server.moorage.cpuUs)(round);
      },
    },
    {
      title: `${title}, ${engine}`,
      unit: "/s",
      async prepare() {
        writeFileSync(fill, paths(await opened()).join("\n"));
      },
      async measure(round) {
        const { platform } = (await opened()).moorage;
        return overHttp(bench, platform, () => [[get(PLACE, platform.authorization)]], { fill, callers: CALLERS })(
          round,
        );
      },
      against: [{ title: own }],
    },
  ];
}

function workOf({ place: { env, dataDir } }: ImagesServer, text: string, keys: string[][]): AloneWork {
  const url = env["MOORAGE_DATABASE_URL"];
  if (url === undefined)
    return { script: "alone.ts", input: { work: "rows", database: join(dataDir, "moorage.db"), text, keys } };
  let n = 0;
  const numbered = text.replaceAll("?", () => `$${(n += 1)}`);
  return {
    script: "alone-postgres.ts",
    input: { work: "rows", url, ancestor: "", connections: POSTGRES_CONNECTIONS, text: numbered, keys },
  };
}

function reportRows(bench: Bench, opened: () => Promise<ImagesServer>): Row[] {
  return askedRows(bench, opened, {
    title: `the report of another image of ${MANY_PACKAGES} packages`,
    paths: ({ large }) =>
      large.map(
        ({ repo, digest }) => `/vulnerabilities/v2/findings?repo=${repo}&digest=${digest}&page_size=${REPORT_PAGE}`,
      ),
    text: `select f.*, p.*, i.layer, i.path from image_packages as i
      join package_findings as f on f.package = i.package and f.closed is null join packages as p on p.id = i.package
      where i.digest = ? and i.source = 'layers' order by p.purl, p.id limit ${REPORT_PAGE}`,
    keys: ({ large }) => large.map(({ digest }) => [digest]),
  });
}

/** A page of what a vulnerability hits in the organization: one in a few images, and one in many. */
function cveRows(bench: Bench, opened: () => Promise<ImagesServer>): Row[] {
  const { images } = bench.sizes;
  const row = (title: string, cves: number[]): Row[] =>
    askedRows(bench, opened, {
      title,
      paths: ({ moorage: { organization } }) =>
        cves.map(
          (n) =>
            `/vulnerabilities/v2/findings?uidp.descendants_of=${organization.uid}&vulnerabilities=${cveOf(n)}&page_size=${PAGE}`,
        ),
      text: `select i.digest, m.repo, t.name, f.*, p.*, i.layer, i.path from feed_keys as k
        join package_findings as f on f.feed = k.feed and f.record = k.record and f.closed is null
        join packages as p on p.id = f.package join image_packages as i on i.package = f.package
        join manifests as m on m.digest = i.digest join tags as t on t.parent = m.repo and t.digest = m.digest
        where k.kind = 'alias' and k.key = ? order by i.digest, m.repo limit ${PAGE + 1}`,
      keys: () => cves.map((n) => [cveOf(n).toLowerCase()]),
    });
  const rare = recordsOf(images) - COMMON;
  return [
    ...row(
      `${PAGE} findings of another CVE in few of ${count(images)} images`,
      Array.from({ length: Math.min(CVES, rare) }, (_, n) => COMMON + Math.floor((n * rare) / Math.min(CVES, rare))),
    ),
    ...row(
      `${PAGE} findings of another CVE in a twentieth of ${count(images)} images`,
      Array.from({ length: COMMON }, (_, n) => n),
    ),
  ];
}

/** The most memory of the server beside a change of a feed, without mapped files, in MiB. */
export async function deltaPeak(bench: Pick<Bench, "scratch" | "sizes">, server: ImagesServer): Promise<number> {
  const { pid } = server.moorage.process;
  const fixed = await queried<{ n: number | string }>(
    server.place,
    `select count(*) as n from package_findings where closed is null and fixed = '["${FIXED + 1}.0.0"]'`,
  );
  forgetPeak(pid);
  await runDelta(bench, server, Number(fixed[0]?.n) > 0 ? 1 : 0);
  return (peakMib(pid) ?? Number.NaN) - (mappedMib(pid) ?? Number.NaN);
}
