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
 * installations, packages that are built and installed, documents, programs and browsers that a machine may have, and
 * the suite of v1 once more by other names.
 */
export const TAKES_LONG = [
  "test/faults/",
  "test/admin/export-import",
  "test/mirroring/processes",
  "test/webhooks/processes",
  "test/auth/sign-in-browser",
  "test/v1/aliased",
  "cli/test/completion-shells",
  "cli/test/demo",
  "cli/test/docs.",
  "cli/test/export-import",
  "cli/test/memory",
  "cli/test/pack",
];

/** Files with a longer version, for `npm run test:all` (support/extent.ts). */
const HAS_LONG_VERSION = /support\/(extent|properties)\.ts/;

/**
 * These take longest, so they start first, each in a process of its own. Commands follow, since they wait for their
 * processes, then other files that share a process, then the rest.
 */
export const FIRST = [
  "test/admin/export-import.",
  "cli/test/docs.",
  "test/engines/fresh-answers",
  "test/faults/",
  "test/webhooks/many-sinks",
  "test/api/lists-during-writes",
  "test/admin/fsck",
  "test/admin/backup",
];

/**
 * Files with a process of their own: those that end processes or take what all of them share, that change the state of
 * the whole process or measure it, or whose server belongs to a support module.
 */
export const OWN_PROCESS = [
  "test/faults/",
  "test/engines/",
  "cli/test/loading",
  "cli/test/pack",
  "cli/test/docs.",
  "packages/console/test/",
  "src/lib/process-pool/",
  "src/lib/program-file",
  "src/lib/release-memory",
  "src/lib/temp-folders",
  "test/events/types",
  "test/oci/blob-memory",
  "test/oci/blobs",
  "test/oci/uploads",
  "scripts/bundle/",
  "scripts/test/unit",
];
/** What a file with one of these does needs a process of its own; a test of the plan finds those that have none. */
export const CHANGES_ITS_PROCESS = [
  /process\.env(?:\.\w+|\["(?!MOORAGE_TEST_)\w+"\])\s*=[^=]|delete process\.env/,
  /process\.(?:memoryUsage|on|once|chdir|umask)\b|\bmock\./,
  /support\/(?:registry-endpoint-client\.ts|(?:storm|race|emitted|fresh)\/)/,
];
const COMMANDS = "packages/cli/test/";
/** How many files share a process, which all of them keep what they loaded in. */
const SHARE = { pure: 40, servers: 14, commands: 5 };

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
  /** Each file in a process of its own. */
  apart?: boolean;
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
export function planOf({ root, words, engines, extent, apart = false, part = { n: 1, of: 1 } }: Wanted): Unit[] {
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
    return unitsOf(engine, mine, apart);
  });
  const rank = ({ files }: Unit): number => {
    const at = FIRST.findIndex((part) => files[0]?.includes(part));
    if (at >= 0) return at;
    return FIRST.length + (files[0]?.startsWith(COMMANDS) ? 0 : files.length > 1 ? 1 : 2);
  };
  return units.sort((one, other) => rank(one) - rank(other));
}

function unitsOf(engine: Engine, files: string[], apart: boolean): Unit[] {
  const isAlone = (path: string): boolean => apart || [...OWN_PROCESS, ...FIRST].some((part) => path.includes(part));
  const kindOf = (path: string): keyof typeof SHARE =>
    path.startsWith(COMMANDS) ? "commands" : /^packages\/[^/]+\/test\//.test(path) ? "servers" : "pure";
  const together = files.filter((path) => !isAlone(path));
  const shared = (["commands", "servers", "pure"] as const).flatMap((kind) =>
    chunks(
      together.filter((path) => kindOf(path) === kind),
      SHARE[kind],
    ),
  );
  return [...files.filter(isAlone).map((path) => [path]), ...shared].map((each) => ({ engine, files: each }));
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
}
