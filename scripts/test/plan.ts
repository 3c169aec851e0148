// Plans a run of the tests: which files, on which engine, and which of them share a process.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  DEPENDS_ON_ENGINE,
  FIRST,
  HEAVY,
  IN_BROWSER,
  IN_OTHER_SECTIONS,
  OWN_PROCESS,
  SQL_BY_HAND,
  TAKES_LONG,
} from "./paths.ts";

export type Engine = "sqlite" | "postgres";
/** Files that one process runs on one engine. */
export interface Unit {
  engine: Engine;
  files: string[];
}
/**
 * `quick` is `npm test`: all that does not take long, on SQLite, and on PostgreSQL where the engine matters most. `all`
 * is everything on both engines, in the long versions (`isLong`). What it adds to `quick` is in two parts: `ci` is done
 * before a change lands, in the short versions; `nightly` is the rest of PostgreSQL, and each long version.
 */
export type Extent = "quick" | "all" | "ci" | "nightly";

const FILES = [
  "packages/*/src/**/*.test.ts",
  "packages/*/test/**/*.test.ts",
  "scripts/**/*.test.ts",
  "bench/**/*.test.ts",
];

/** Files that open a database: all of these can run on PostgreSQL. */
export const USES_DATABASE = /^packages\/(?:(?!api|cli)\w+\/test\/|kernel\/src\/store\/)/;

/** True of the runs that have the long versions of `support/extent.ts`. */
export function isLong(extent: Extent): boolean {
  return extent === "all" || extent === "nightly";
}

/** Files with a long version. */
const HAS_LONG_VERSION = /support\/(extent|properties)\.ts/;

/** What a file with one of these does needs a process of its own; a test of the plan finds those that have none. */
export const CHANGES_ITS_PROCESS = [
  /process\.env(?:\.\w+|\["(?!MOORAGE_TEST_)\w+"\])\s*=[^=]|delete process\.env/,
  /process\.(?:memoryUsage|on|once|chdir|umask)\b|\bmock\./,
  /support\/(?:registry-endpoint-client\.ts|(?:storm|race|emitted|fresh)\/)/,
];
const COMMANDS = "packages/cli/test/";
/** How many files share a process, which all of them keep what they loaded in. */
const SHARE = { pure: 40, servers: 14, commands: 5, browser: 4 };

export interface Wanted {
  root: string;
  /** Only files whose path contains one of these words; all files without words. */
  words: readonly string[];
  engines: readonly Engine[];
  extent: Extent;
  /** Of the files that the words name, those that `extent` has, instead of all. */
  short?: boolean;
  /** Each file in a process of its own. */
  apart?: boolean;
}

/** The processes to run, those that take longest first. */
export function planOf({ root, words, engines, extent, short = false, apart = false }: Wanted): Unit[] {
  const files = globSync(FILES, { cwd: root })
    .filter((path) => !path.includes("node_modules"))
    .filter((path) => (words.length === 0 ? !path.startsWith(IN_BROWSER) : words.some((word) => path.includes(word))))
    .sort();
  const texts = new Map(files.map((path) => [path, readFileSync(join(root, path), "utf8")]));
  const textOf = (path: string): string => texts.get(path) ?? "";
  const isIn = (parts: readonly string[], path: string): boolean => parts.some((part) => path.includes(part));
  const isQuick = (path: string, engine: Engine): boolean => {
    if (extent === "quick" && words.length > 0 && !short) return true;
    return !isIn(TAKES_LONG, path) && (engine === "sqlite" || isIn(DEPENDS_ON_ENGINE, path));
  };
  const isBeforeLanding = (path: string, engine: Engine): boolean =>
    !path.startsWith(HEAVY) &&
    !isIn(IN_OTHER_SECTIONS, path) &&
    (engine === "sqlite" || isIn([...SQL_BY_HAND, ...DEPENDS_ON_ENGINE], path));
  const units = engines.flatMap((engine) => {
    const here = files.filter((path) => {
      if (engine === "postgres" && !USES_DATABASE.test(path)) return false;
      if (path.startsWith(HEAVY) && words.length === 0 && (engine === "postgres" || extent !== "all")) return false;
      if (extent === "quick") return isQuick(path, engine);
      if (extent === "all") return true;
      const isMore = !isQuick(path, engine);
      if (extent === "ci") return isMore && isBeforeLanding(path, engine);
      return HAS_LONG_VERSION.test(textOf(path)) || (isMore && !isBeforeLanding(path, engine));
    });
    return unitsOf(engine, here, apart);
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
    path.startsWith(COMMANDS)
      ? "commands"
      : path.startsWith(IN_BROWSER)
        ? "browser"
        : /^packages\/[^/]+\/test\//.test(path)
          ? "servers"
          : "pure";
  const together = files.filter((path) => !isAlone(path));
  const shared = (["commands", "browser", "servers", "pure"] as const).flatMap((kind) =>
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
