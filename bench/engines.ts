import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Loader } from "./loader.ts";
import {
  type Amounts,
  type Engine,
  type Installation,
  postgresInstallation,
  sqliteInstallation,
} from "./installations.ts";
import { median } from "./median.ts";
import { DEFAULT_LOG_LEVEL, type Moorage, startMoorage } from "./moorage.ts";
import { openPostgres } from "./postgres.ts";
import { mappedMib, residentMib, type Server, stop } from "./processes.ts";
import type { Registry } from "./registries.ts";
import type { Figure } from "./report.ts";
import { artifactSection } from "./rows-artifacts.ts";
import { blobPeaks, blobSection } from "./rows-blobs.ts";
import { catalogPeaks, catalogSection } from "./rows-catalogs.ts";
import { eventSection } from "./rows-events.ts";
import { feedPeaks, feedSection } from "./rows-feeds.ts";
import { deltaPeak, findingsSection, type ImagesServer, imagesServer } from "./rows-findings.ts";
import type { HeavyLine } from "./heavy.ts";
import { librariesSection } from "./rows-libraries.ts";
import { libraryUpstreamSection } from "./rows-library-upstreams.ts";
import { mixedSection } from "./rows-traffic.ts";
import { pullEventSection } from "./rows-pull-events.ts";
import { pushesReadSection, pushSection } from "./rows-push.ts";
import { pullStatisticsSection } from "./rows-pull-statistics.ts";
import { quotaPushSection } from "./rows-quota-push.ts";
import { pullSection } from "./rows-pulls.ts";
import { readSection } from "./rows-reads.ts";
import { registrySection, tagsSection } from "./rows-registry.ts";
import { FEW_TAGS, sizeSection } from "./rows-tags.ts";
import { signatureSection } from "./rows-signatures.ts";
import { v1Peaks, v1Section } from "./rows-v1.ts";
import { workersSection } from "./rows-workers.ts";
import { writeSection } from "./rows-writes.ts";
import { type Bench, count, type Section, type Sizes } from "./rows.ts";
import { type Measured, runSection } from "./run.ts";
import { say } from "./say.ts";
import { imageRepos } from "./seed-images.ts";
import { runZb, type ZbRun } from "./zb.ts";

/**
 * The input of an engine's part of the benchmark, and where it adds its results: results stay, whatever fails later.
 */
export interface Part {
  launcher: string;
  /** The folder in which seeded databases are kept for the next run, and a temporary folder of this run. */
  cacheFolder: string;
  scratch: string;
  /** Words of titles, in lower case; all without any. */
  only: string[];
  sizes: Sizes;
  loader: Loader;
  hello: Server;
  grpcHello: Server;
  peers: Registry[];
  measured: Measured[];
  figures: Figure[];
  /** What heavy inputs do to a server, when that is asked for. */
  heavy: HeavyLine[];
  zb: ZbRun[];
  /** How many images zb transfers in each of its tests. */
  zbRequests: number;
  failures: string[];
  /** Functions to call at the end of the run, however it ends. Calling one twice does no harm. */
  cleanups: (() => Promise<void>)[];
}

// Names that `only` may have besides those of rows.
const OTHERS = ["start-up", "memory", "zb", "command"];
const FEW_REPOS = 100;
const STARTS = 3;
const MOST_READY_MS = 500;
const MOST_REST_MIB = 110;
const MOST_GROWTH = 1.1;
// By then the garbage of the start-up has been collected: see lib/release-memory.ts.
const REST_MS = 12_000;

export async function runSqlite(part: Part): Promise<void> {
  const amounts = amountsOf(part.sizes);
  const installations: Installation[] = [];
  for (const amount of amounts)
    installations.push(await sqliteInstallation(part.launcher, part.cacheFolder, part.scratch, amount));
  const [smallest] = amounts;
  // A separate copy: a data folder has one server.
  const copy = async (name: string): Promise<Installation | undefined> =>
    smallest && sqliteInstallation(part.launcher, part.cacheFolder, `${part.scratch}/${name}`, smallest);
  await runEngine(
    part,
    "SQLite",
    installations,
    {
      logged: await copy("logged"),
      silent: await copy("silent"),
      uncounted: await copy("uncounted"),
      signed: await copy("signed"),
      unread: await copy("unread"),
      images: () =>
        sqliteInstallation(part.launcher, part.cacheFolder, join(part.scratch, "images"), imagesOf(part.sizes)),
      libraries: () =>
        sqliteInstallation(part.launcher, part.cacheFolder, join(part.scratch, "libraries"), librariesOf(part.sizes)),
      workers: (workers, repos) =>
        sqliteInstallation(part.launcher, part.cacheFolder, join(part.scratch, `workers-${workers}`), {
          repos,
          tagged: [],
        }),
    },
    () => 0,
  );
}

export async function runPostgres(part: Part): Promise<void> {
  const postgres = await openPostgres();
  part.cleanups.push(postgres.close);
  try {
    say(`PostgreSQL ${postgres.version}`);
    const installations: Installation[] = [];
    for (const amount of amountsOf(part.sizes))
      installations.push(await postgresInstallation(part.launcher, postgres, part.scratch, amount));
    const [smallest] = amountsOf(part.sizes);
    const copy = async (name: string): Promise<Installation | undefined> =>
      smallest && postgresInstallation(part.launcher, postgres, join(part.scratch, name), smallest, name);
    const [silent, unread] = [await copy("silent"), await copy("unread")];
    const [uncounted, signed] = [await copy("uncounted"), await copy("signed")];
    const images = (): Promise<Installation> =>
      postgresInstallation(part.launcher, postgres, join(part.scratch, "images"), imagesOf(part.sizes), "images");
    const libraries = (): Promise<Installation> =>
      postgresInstallation(
        part.launcher,
        postgres,
        join(part.scratch, "libraries"),
        librariesOf(part.sizes),
        "libraries",
      );
    await runEngine(
      part,
      "PostgreSQL",
      installations,
      {
        silent,
        uncounted,
        signed,
        unread,
        images,
        libraries,
        workers: (workers, repos) =>
          postgresInstallation(
            part.launcher,
            postgres,
            join(part.scratch, `workers-${workers}`),
            { repos, tagged: [] },
            `workers_${workers}`,
          ),
        ...(smallest && {
          onSqlite: await sqliteInstallation(part.launcher, part.cacheFolder, join(part.scratch, "beside"), smallest),
        }),
      },
      postgres.cpuUs,
    );
  } finally {
    await postgres.close();
  }
}

function amountsOf({ repos, tags }: Sizes): { repos: number; tagged: number[] }[] {
  return repos.map((amount, index) => ({
    repos: amount,
    tagged: index === repos.length - 1 ? [...new Set([FEW_TAGS, Math.min(1_000, tags), tags])] : [],
  }));
}

function imagesOf({ images }: Sizes): Amounts {
  return { repos: imageRepos(images), tagged: [], images };
}

function librariesOf({ artifacts }: Sizes): Amounts {
  return { repos: FEW_REPOS, tagged: [], artifacts };
}

/** Installations beside those of each size. `images` and `libraries`: made when they are asked for. */
interface Others {
  logged?: Installation | undefined;
  silent?: Installation | undefined;
  uncounted?: Installation | undefined;
  signed?: Installation | undefined;
  unread?: Installation | undefined;
  images(): Promise<Installation>;
  libraries(): Promise<Installation>;
  /** For so many workers, with so many repos. */
  workers(workers: number, repos: number): Promise<Installation>;
  /** Beside those on PostgreSQL, one on SQLite. */
  onSqlite?: Installation;
}

async function runEngine(
  part: Part,
  engine: Engine,
  installations: Installation[],
  { logged, silent, uncounted, signed, unread, images, libraries, workers, onSqlite }: Others,
  helpersCpuUs: () => number | undefined,
): Promise<void> {
  const servers: Bench["servers"] = [];
  const closers: (() => Promise<void>)[] = [];
  const started = (moorage: Moorage): Moorage => {
    closers.push(() => stop(moorage.process));
    return moorage;
  };
  try {
    const last = installations.at(-1);
    if (last) await noteStarts(part, last, helpersCpuUs);
    for (const installation of installations)
      servers.push({ installation, moorage: started(await startMoorage(installation.place, { helpersCpuUs })) });
    const largest = servers.at(-1);
    if (largest === undefined) return;
    const withLog = logged && started(await startMoorage(logged.place, { logLevel: DEFAULT_LOG_LEVEL }));
    const without = async (setting: string, installation?: Installation): Promise<Moorage | undefined> =>
      installation &&
      started(
        await startMoorage(
          { ...installation.place, env: { ...installation.place.env, [setting]: "0" } },
          { helpersCpuUs },
        ),
      );
    const withoutEvents = await without("MOORAGE_EVENTS_PULLS", silent);
    const withoutStatistics = await without("MOORAGE_PULLS_RETENTION", uncounted);
    const withPolicies = signed && started(await startMoorage(signed.place, { helpersCpuUs }));
    const withoutReading = await without("MOORAGE_CATALOG_IMAGES", unread);
    const beside = onSqlite && started(await startMoorage(onSqlite.place));
    const bench: Bench = {
      ...part,
      engine,
      servers,
      largest,
      ...(withLog && { logged: withLog }),
      ...(withoutEvents && { silent: withoutEvents }),
      ...(withoutStatistics && { uncounted: withoutStatistics }),
      ...(withPolicies && { signed: withPolicies }),
      ...(withoutReading && { unread: withoutReading }),
      ...(beside && { onSqlite: beside }),
    };
    const findings = imagesServer(bench, images, helpersCpuUs, (close) => closers.push(close));
    const sections: (() => Promise<Section | undefined>)[] = [
      () => readSection(bench),
      () => writeSection(bench, (close) => closers.push(close)),
      () => tagsSection(bench),
      () => sizeSection(bench),
      async () => v1Section(bench),
      () => eventSection(bench, (close) => closers.push(close)),
      () => registrySection(bench),
      () => pushSection(bench),
      () => mixedSection(bench),
      async () => pushesReadSection(bench),
      () => quotaPushSection(bench),
      () => pullStatisticsSection(bench),
      () => signatureSection(bench),
      async () => catalogSection(bench),
      async () => findingsSection(bench, findings),
      ...(["npm", "pypi"] as const).flatMap((client) => [
        () => librariesSection(bench, client, (close) => closers.push(close)),
        () => libraryUpstreamSection(bench, client, (close) => closers.push(close)),
      ]),
      async () => artifactSection(bench, libraries, (close) => closers.push(close)),
      ...(engine === "SQLite"
        ? [
            () => pullEventSection(bench),
            async () => pullSection(bench),
            async () => blobSection(bench),
            async () => feedSection(bench),
          ]
        : []),
      async () => workersSection(bench, workers, (close) => closers.push(close)),
    ];
    // Parts that are not rows run only when asked for.
    const isRows = part.only.length === 0 || part.only.some((word) => !OTHERS.some((other) => other.includes(word)));
    for (const make of isRows ? sections : []) {
      await guarded(part, `a section on ${engine}`, async () => {
        const section = await make();
        if (section !== undefined) part.measured.push(await runSection(section, part.sizes, part.only));
      });
    }
    await guarded(part, "peak memory of lists of v1", () => noteV1Peaks(part, bench));
    await guarded(part, "peak memory of security data", () => noteSecurityPeaks(part, bench, findings));
    if (engine === "SQLite") {
      await guarded(part, "peak memory", () => notePeaks(part, bench));
      await guarded(part, "zb", () => noteZb(part, bench));
    }
  } finally {
    for (const close of closers) await close();
  }
}

/** Runs the work; an error ends this part of the benchmark and not the rest. */
export async function guarded(part: Pick<Part, "failures">, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const failure = `${what}: ${error instanceof Error ? error.message : String(error)}`;
    part.failures.push(failure);
    say(failure);
  }
}

async function noteStarts(
  part: Part,
  { place, repos, engine }: Installation,
  helpersCpuUs: () => number | undefined,
): Promise<void> {
  if (!isAsked(part, "start-up") && !isAsked(part, "memory")) return;
  const times: number[] = [];
  const rests: number[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    const moorage = await startMoorage(place, { helpersCpuUs });
    try {
      await wait(REST_MS);
      times.push(moorage.readyMs);
      rests.push(residentMib(moorage.process.pid) ?? Number.NaN);
    } finally {
      await stop(moorage.process);
    }
  }
  part.figures.push(
    {
      title: `start to ready, ${count(repos)} repos, ${engine}`,
      value: median(times),
      unit: "ms",
      most: MOST_READY_MS,
    },
    {
      title: `memory at rest, ${count(repos)} repos, ${engine}`,
      value: median(rests),
      unit: "MiB",
      most: MOST_REST_MIB,
    },
  );
}

/** On a server that has done little: memory from other work would hide what a blob needs. */
async function notePeaks(part: Part, { largest, logged: fresh, ...bench }: Bench): Promise<void> {
  if (!isAsked(part, "memory") || fresh === undefined) return;
  const { pid } = largest.moorage.process;
  part.figures.push(
    { title: "memory after all rows, SQLite", value: residentMib(pid) ?? Number.NaN, unit: "MiB" },
    { title: "of that, files mapped, the database's above all", value: mappedMib(pid) ?? Number.NaN, unit: "MiB" },
  );
  for (const registry of [fresh, ...part.peers]) {
    const { small, large } = await blobPeaks(bench, registry, fresh.organization.name);
    const of = (bytes: number): string => `peak memory, a blob of ${bytes / 2 ** 20} MiB up and down, ${registry.name}`;
    part.figures.push(
      { title: of(part.sizes.smallBlobBytes), value: small, unit: "MiB" },
      { title: of(part.sizes.blobBytes), value: large, unit: "MiB" },
    );
    if (registry === fresh)
      part.figures.push({
        title: "growth of peak memory with the blob's size",
        value: large / small,
        unit: "×",
        most: MOST_GROWTH,
      });
  }
  for (const { mib, peakMib } of await feedPeaks({ ...bench, ...part }))
    part.figures.push({
      title: `peak memory without mapped files, import of a feed of ${Math.round(mib)} MiB, SQLite`,
      value: peakMib,
      unit: "MiB",
    });
}

async function noteV1Peaks(part: Part, bench: Bench): Promise<void> {
  if (!isAsked(part, "memory")) return;
  for (const { tags, peak } of await v1Peaks(bench))
    part.figures.push({
      title: `peak memory without mapped files, v1 list of ${count(tags)} tags, ${bench.engine}`,
      value: peak,
      unit: "MiB",
    });
}

async function noteSecurityPeaks(part: Part, bench: Bench, findings: () => Promise<ImagesServer>): Promise<void> {
  if (!isAsked(part, "memory")) return;
  const { engine, sizes } = bench;
  const titleOf = (what: string): string => `peak memory without mapped files, ${what}, ${engine}`;
  const server = await findings();
  for (const { title, peakMib } of await catalogPeaks(sizes, server))
    part.figures.push({ title: titleOf(`reading of ${title}`), value: peakMib, unit: "MiB" });
  const change = `a feed's change of ${count(sizes.deltaRecords)} records over ${count(sizes.images)} images`;
  part.figures.push({ title: titleOf(change), value: await deltaPeak(bench, server), unit: "MiB" });
}

async function noteZb(part: Part, { largest: { moorage } }: Bench): Promise<void> {
  if (!isAsked(part, "zb")) return;
  for (const registry of [...part.peers, moorage]) {
    const run = await runZb(registry, moorage.organization.name, part.scratch, part.zbRequests);
    if (run === undefined)
      return say("no zb in build/tools or on PATH: its run is left out (with Go on the machine: .ci/tools.sh zb)");
    part.zb.push(run);
    if (run.failure !== undefined) throw new Error(`${registry.name}: ${run.failure}`);
  }
}

function isAsked({ only }: Pick<Part, "only">, what: string): boolean {
  return only.length === 0 || only.some((word) => what.includes(word));
}
