// Plans a run of the tests: which files, on which engine, and which of them share a process.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Engine = "sqlite" | "postgres";
/** Files that one process runs on one engine. */
export interface Unit {
  engine: Engine;
  files: string[];
}
/**
 * `quick` is `npm test`: all that does not take long, on SQLite, and on PostgreSQL where the engine matters. `all` is
 * everything on both engines, in the long versions; `rest` is what `all` adds to `quick`.
 */
export type Extent = "quick" | "all" | "rest";

const FILES = [
  "packages/*/src/**/*.test.ts",
  "packages/*/test/**/*.test.ts",
  "scripts/**/*.test.ts",
  "bench/**/*.test.ts",
];

/** Files that open a database: all of these can run on PostgreSQL. */
const USES_DATABASE = /^packages\/(server\/(test\/|src\/store\/)|console\/test\/)/;

/**
 * Journeys through the console in a real browser, which take both processors: they run when they are asked for, as by
 * `npm test -- console/test`.
 */
export const IN_BROWSER = "packages/console/test/";

/**
 * Inputs at their limits, each on a server of its own: they take minutes of both processors, and what they play depends
 * on no engine. `.ci/run` has a section for them, by `npm test -- faults/heavy`; `npm run test:all` runs them on
 * SQLite.
 */
export const HEAVY = "packages/server/test/faults/heavy/";

/**
 * Tests that run on PostgreSQL in `npm test` too, since their result may depend on the engine: hand-written SQL,
 * isolation and collisions, the order of text. All others run there in `npm run test:all`.
 */
export const DEPENDS_ON_ENGINE = ["src/store/", "test/engines/", "test/events/queue", "test/registry/promotions"];

/**
 * Tests that take too long for `npm test`: processes that are killed again and again, lost databases, exports of whole
 * installations, packages that are built and installed, documents.
 */
export const TAKES_LONG = [
  "test/faults/",
  "test/admin/export-import",
  "test/mirroring/processes",
  "test/webhooks/processes",
  "cli/test/docs.",
  "cli/test/export-import",
  "cli/test/pack",
];

/** Files with a longer version, for `npm run test:all` (support/extent.ts). */
const HAS_LONG_VERSION = /support\/(extent|properties)\.ts/;

/** These take longest, so they start first. Files that share a process follow, then the rest. */
export const FIRST = [
  "test/admin/export-import.",
  "cli/test/docs.",
  "test/engines/fresh-answers",
  "test/faults/",
  "test/webhooks/many-sinks",
  "test/api/lists-during-writes",
  "test/admin/fsck",
  "test/admin/backup",
  "cli/test/",
];

/**
 * A file has its own process when it starts or ends processes, changes the state of the whole process, or measures it.
 * Hooks on the top level of a file would run for tests of other files as well.
 */
const OWN_PROCESS = [
  /node:(child_process|cluster|worker_threads)/,
  /support\/(processes|replicas|browser|console|ci-jobs|statements|registry-endpoint-client)\.ts/,
  /support\/(storm|race|emitted|fresh)\//,
  /^(before|after)Each\(/m,
  /process\.(env|memoryUsage|on|once|chdir)\b/,
  /\bmock\./,
];
/** More files in one process would keep more servers open than its memory allows. */
const SHARE = { pure: 40, servers: 6 };

/** One of `of` parts, which together are the whole; the first is 1. */
export interface Part {
  n: number;
  of: number;
}

export interface Wanted {
  root: string;
  /** Only files whose path contains one of these words; all files without words. */
  words: readonly string[];
  engines: readonly Engine[];
  extent: Extent;
  /** Which part of the files on PostgreSQL; defaults to all of them. */
  part?: Part;
}

/** The part that `--part=<n>/<of>` names. Throws when it names none. */
export function partOf(text: string): Part {
  const [, n = 0, of = 0] = (/^(\d)\/(\d)$/.exec(text) ?? []).map(Number);
  if (n < 1 || n > of) throw new Error(`--part=${text}: must be as 1/2, the first of two parts`);
  return { n, of };
}

/** The processes to run, those that take longest first. */
export function planOf({ root, words, engines, extent, part = { n: 1, of: 1 } }: Wanted): Unit[] {
  const files = globSync(FILES, { cwd: root })
    .filter((path) => !path.includes("node_modules"))
    .filter((path) => (words.length === 0 ? !path.startsWith(IN_BROWSER) : words.some((word) => path.includes(word))))
    .sort();
  const texts = new Map(files.map((path) => [path, readFileSync(join(root, path), "utf8")]));
  const textOf = (path: string): string => texts.get(path) ?? "";
  const isLong = (path: string): boolean => HAS_LONG_VERSION.test(textOf(path));
  const isQuick = (path: string, engine: Engine): boolean => {
    if (words.length > 0) return true;
    if (TAKES_LONG.some((part) => path.includes(part))) return false;
    return engine === "sqlite" || DEPENDS_ON_ENGINE.some((part) => path.includes(part));
  };
  const units = engines.flatMap((engine) => {
    const here = files.filter((path) => {
      if (engine === "postgres" && !USES_DATABASE.test(path)) return false;
      if (path.startsWith(HEAVY) && words.length === 0 && (engine === "postgres" || extent !== "all")) return false;
      if (extent === "quick") return isQuick(path, engine);
      return extent === "all" || isLong(path) || !isQuick(path, engine);
    });
    const mine = engine === "postgres" ? here.filter((_, at) => at % part.of === part.n - 1) : here;
    return unitsOf(engine, mine, (path) => OWN_PROCESS.some((pattern) => pattern.test(textOf(path))));
  });
  const rank = ({ files }: Unit): number => {
    const at = FIRST.findIndex((part) => files[0]?.includes(part));
    return at >= 0 ? at : FIRST.length + (files.length > 1 ? 0 : 1);
  };
  return units.sort((one, other) => rank(one) - rank(other));
}

function unitsOf(engine: Engine, files: string[], isAlone: (path: string) => boolean): Unit[] {
  const isPure = (path: string): boolean => !/^packages\/[^/]+\/test\//.test(path);
  const together = files.filter((path) => !isAlone(path) && !FIRST.some((part) => path.includes(part)));
  const alone = files.filter((path) => !together.includes(path));
  return [
    ...alone.map((path) => [path]),
    ...chunks(
      together.filter((path) => !isPure(path)),
      SHARE.servers,
    ),
    ...chunks(together.filter(isPure), SHARE.pure),
  ].map((each) => ({ engine, files: each }));
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
}
