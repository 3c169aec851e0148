import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Engine, Installation } from "./installations.ts";
import { type LoadResult, PLACE } from "./load.ts";
import { type Loader, openLoader } from "./loader.ts";
import { type Moorage, type Place, startMoorage } from "./moorage.ts";
import { childrenOf, cpuUsOf, LOAD_CORE, pinned, SERVER_CORE, stop } from "./processes.ts";
import { MANIFEST, pushImage } from "./registries.ts";
import { loadOf, MANY_CLIENTS, mixedWhat, PUSH_PERCENTS, stocked } from "./rows-traffic.ts";
import { rested } from "./rows-pull-events.ts";
import { moves } from "./rows-writes.ts";
import { type Bench, count, get, type Round, type Row, type Sample, sampleOf, type Section } from "./rows.ts";

const GOAL = 1.8;
/** Of mixed traffic on PostgreSQL, where workers share nothing but the database, as replicas do. */
const POSTGRES_GOAL = 2.2;
const POSTGRES_GOAL_PERCENT = 5;
const WORKERS: Readonly<Record<Engine, number>> = { SQLite: 2, PostgreSQL: 3 };
const CORES = [SERVER_CORE, LOAD_CORE];
// More repos than the response caches can hold.
const REPOS = 50_000;
const TAGS = 1_000;
// Each worker compiles its code for itself.
const WARM_MS = 1_000;

/** A server with a worker for each of its cores, and a load generator on each of them. */
interface Crew {
  moorage: Moorage;
  loaders: Loader[];
  repository: string;
  uids: string[];
}

/** What so many callers ask: a sequence of requests for each, and the lines that replace PLACE in them. */
interface What {
  title: string;
  sequences(crew: Crew, callers: number, round: number): string[][];
  lines?(crew: Crew): string[];
  /** In place of requests: pulls and pushes of whole images, of which so many of a hundred are pushes. */
  pushPercent?: number;
}

/**
 * The same requests to one worker on one core and to several on two, each with its load on the same cores: with two
 * cores in all, there is none left for the load alone. What counts is the processor time of the busiest worker, without
 * that of PostgreSQL. `installed` makes an installation for so many workers. Undefined where processes cannot be bound
 * to cores.
 */
export function workersSection(
  bench: Bench,
  installed: (workers: number, repos: number) => Promise<Installation>,
  onClose: (close: () => Promise<void>) => void,
): Section | undefined {
  const { engine } = bench;
  const [, middle] = bench.servers;
  if (!pinned || middle === undefined) return undefined;
  const { repos } = middle.installation;
  const crews = new Map<number, Promise<Crew>>();
  const open = async (workers: number): Promise<Crew> => {
    const cores = CORES.slice(0, workers);
    const { place } = await installed(workers, repos);
    const env = { ...place.env, MOORAGE_WORKERS: String(workers) };
    const moorage = await startMoorage({ ...place, env }, { cores });
    onClose(() => stop(moorage.process));
    const repository = `${moorage.organization.name}/workers`;
    await pushImage(moorage, repository, "latest");
    return { moorage, repository, uids: engine === "SQLite" ? uidsIn(place) : [], loaders: cores.map(openLoader) };
  };
  // Started at their first use: a run of other rows does not need them.
  const crewOf = (workers: number): Promise<Crew> => {
    const crew = crews.get(workers) ?? open(workers);
    crews.set(workers, crew);
    return crew;
  };
  const rowsOf = (what: What): Row[] => {
    const titleOf = (workers: number): string =>
      `${what.title}, ${workers === 1 ? "workers 1 on one core" : `workers ${workers} on ${CORES.length} cores`}, ${engine}`;
    const goal = goalOf(engine, what);
    return [1, WORKERS[engine]].map((workers) => ({
      title: titleOf(workers),
      unit: "/s",
      measure: async ({ round, durationMs }) => {
        const crew = await crewOf(workers);
        const timeMs = round === 0 ? Math.max(WARM_MS, durationMs) : durationMs;
        return rested(crew.moorage, () => measured(bench, crew, what, { round, durationMs: timeMs }))({
          round,
          durationMs,
        });
      },
      ...(workers > 1 && {
        against: [{ title: titleOf(1), byCpu: true, ...(goal !== undefined && { goal }) }],
      }),
    }));
  };
  const asked = whats(repos).filter(({ lines, title }) => engine === "SQLite" || (!lines && !title.includes("moves")));
  return { title: `workers, ${engine}`, rows: asked.flatMap(rowsOf) };
}

function goalOf(engine: Engine, { pushPercent }: What): number | undefined {
  if (engine === "PostgreSQL") return pushPercent === POSTGRES_GOAL_PERCENT ? POSTGRES_GOAL : undefined;
  return pushPercent === undefined ? GOAL : undefined;
}

function uidsIn({ dataDir }: Place): string[] {
  const database = new DatabaseSync(join(dataDir, "moorage.db"), { readOnly: true });
  const rows = database.prepare("select uid from repos limit ?").all(REPOS);
  database.close();
  return rows.map(({ uid }) => String(uid));
}

function whats(repos: number): What[] {
  return [
    {
      title: `get another of ${count(repos)} repos, REST`,
      sequences: ({ moorage: { platform } }) => [[get(`/registry/v2/repos/${PLACE}`, platform.authorization)]],
      lines: ({ uids }) => uids,
    },
    {
      title: "manifest by tag",
      sequences: ({ moorage, repository }) => [
        [get(`/v2/${repository}/manifests/latest`, moorage.authorization, MANIFEST)],
      ],
    },
    {
      title: `tag moves with history, ${count(TAGS)} tags`,
      sequences: ({ moorage: { platform }, uids: [repo = ""] }, callers, round) =>
        moves(repo, platform.authorization, callers, round),
    },
    ...PUSH_PERCENTS.map((pushPercent) => ({ ...mixedWhat(pushPercent), pushPercent, sequences: () => [] })),
  ];
}

/** All load generators together; of the lines, each has its own, so that none is asked for by two. */
async function measured(
  bench: Bench,
  crew: Crew,
  { title, sequences, lines, pushPercent }: What,
  { round, durationMs }: Round,
): Promise<Sample> {
  const { loaders, moorage } = crew;
  const {
    scratch,
    sizes: { connections },
  } = bench;
  if (pushPercent !== undefined) await stocked(bench, moorage, moorage);
  const all = sequences(crew, connections, round);
  const before = processorTimes(moorage);
  const results = await Promise.all(
    loaders.map((loader, at) => {
      if (pushPercent !== undefined)
        return loader.operations({
          ...loadOf(bench, moorage, moorage),
          clients: MANY_CLIENTS / loaders.length,
          pushPercent,
          name: `workers-${pushPercent}-${loaders.length}-${at}-${round}`,
          durationMs,
        });
      const mine = <T>(from: T[]): T[] => from.filter((_, index) => index % loaders.length === at);
      const fill = join(scratch, `workers ${title} ${loaders.length} ${at}`.replaceAll(/[^a-zA-Z0-9]+/g, "-"));
      if (lines !== undefined && round === 0) writeFileSync(fill, mine(lines(crew)).join("\n"));
      return loader.http({
        port: moorage.port,
        connections: connections / loaders.length,
        sequences: all.length > 1 ? mine(all) : all,
        durationMs,
        ...(lines !== undefined && { fill }),
      });
    }),
  );
  const used = processorTimes(moorage).map((time, at) => time - (before[at] ?? 0));
  // The first process of several workers serves nothing itself.
  const serving = used.length > 1 ? used.length - 1 : 1;
  return sampleOf(together(results), Math.max(sum(used) / serving, ...used));
}

/** The processor time in microseconds of the server's processes: the first one, then its workers. */
function processorTimes({ process: { pid = 0 } }: Moorage): number[] {
  return [pid, ...childrenOf(pid)].map((one) => cpuUsOf(one) ?? Number.NaN);
}

function together(results: LoadResult[]): LoadResult {
  const of = (value: (result: LoadResult) => number): number[] => results.map(value);
  return {
    answers: sum(of(({ answers }) => answers)),
    failures: sum(of(({ failures }) => failures)),
    firstFailure: results.map(({ firstFailure }) => firstFailure).find((text) => text !== "") ?? "",
    bytes: sum(of(({ bytes }) => bytes)),
    elapsedMs: Math.max(...of(({ elapsedMs }) => elapsedMs)),
    loadShare: Math.max(...of(({ loadShare }) => loadShare)),
  };
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
