// `npm test`: every test of the repository on SQLite, and on a fresh PostgreSQL those that depend on the engine.
// `npm run test:all` (--all): everything on both, in the long versions. What that adds to `npm test` is in two parts:
// --ci runs what decides whether a change lands, in short versions; --nightly the others, and each long version.
//
//   npm test -- oci/blobs webhooks          the test files whose path contains one of the words, on both engines
//   npm test -- --short oci                  of these, the ones that npm test has
//   npm test -- --test-name-pattern=history   options are those of Node's test runner
//   MOORAGE_TEST_ENGINES=sqlite npm test      on one engine: sqlite or postgres
//   MOORAGE_TEST_CONCURRENCY=1 npm test       so many concurrent processes
//   npm test -- --times                      at its end the files that took the most processor time
//   MOORAGE_TEST_MINUTES=60 npm test          so long a process at most, in place of 20 minutes
//   MOORAGE_TEST_AGAIN=3 npm test             up to 3 failed files run again, alone; see runAgain
//   MOORAGE_TEST_DEFECTS=<file>               those of them that passed then are added to that file
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startPostgres, type TestPostgres } from "../packages/server/test/support/postgres.ts";
import { bundleFolder } from "./bundle/folder.ts";
import { type Engine, type Extent, isLong, planOf, type Unit, USES_DATABASE } from "./test/plan.ts";
import { defectsIn, failedIn, newTotals, print, printCpu, printTotals } from "./test/print.ts";
import { type Outcome, runUnit } from "./test/unit.ts";

/** How many files `--times` names. */
const TIMES = 40;

const root = dirname(import.meta.dirname);
const startMs = performance.now();
const given = process.argv.slice(2);
// `npm run test:all -- --ci` gives both.
const extent: Extent = (["ci", "nightly", "all"] as const).find((each) => given.includes(`--${each}`)) ?? "quick";
const options = given.filter((each) => each.startsWith("-") && !/^--(?:all|ci|nightly|times|short)$/.test(each));
const words = given.filter((each) => !each.startsWith("-"));
const engines = (process.env.MOORAGE_TEST_ENGINES ?? "sqlite,postgres").split(",") as Engine[];
// Far more than a file takes on a slow machine. A process that a test leaves running would keep the run open.
const limitMs = Number(process.env.MOORAGE_TEST_MINUTES ?? 20) * 60_000;
// Tests wait for a good part of their time: for a process to start, for a lease to expire.
const concurrency = Number(process.env.MOORAGE_TEST_CONCURRENCY ?? availableParallelism() * 2);

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupted.abort());

// A pattern of names would leave out the files, which are tests where they share a process.
const short = given.includes("--short");
const units = planOf({ root, words, engines, extent, short, apart: options.length > 0 });
if (units.length === 0) {
  console.error(`no test file's path holds ${words.join(" or ")}`);
  process.exit(1);
}
const compiled = join(root, "build", "compile-cache");
const common = {
  // Many processes load the same code: the first one compiles it for all.
  NODE_COMPILE_CACHE: compiled,
  ...process.env,
  // Commands and servers start many times, with threads and processes of their own: they run from here.
  MOORAGE_BUNDLE: await bundleFolder({ compiled }),
  ...(isLong(extent) && { MOORAGE_TEST_LONG: "1" }),
};
const postgres = units.some(({ engine }) => engine === "postgres") ? await startedPostgres() : undefined;
const templates = mkdtempSync(join(tmpdir(), "moorage-templates-"));
const envs: Record<Engine, NodeJS.ProcessEnv> = {
  sqlite: { ...common, MOORAGE_TEST_POSTGRES_URL: "", MOORAGE_TEST_SQLITE_TEMPLATE: await sqliteTemplate() },
  postgres: { ...common, MOORAGE_TEST_POSTGRES_URL: postgres?.url ?? "" },
};
for (const engine of engines) {
  const mine = units.filter((unit) => unit.engine === engine);
  const count = mine.reduce((sum, { files }) => sum + files.length, 0);
  if (count > 0) console.log(`# ${engine}: ${count} test files in ${mine.length} processes`);
}
console.log(`# ${concurrency} processes side by side`);
if (extent === "ci") {
  const later = planOf({ root, words, engines, extent: "nightly" }).reduce((sum, { files }) => sum + files.length, 0);
  console.log(
    `# left for npm run test:nightly: ${later} files, in long versions, or on PostgreSQL, where npm test has them on SQLite`,
  );
}

const totals = newTotals();
try {
  const waiting = [...units];
  const worker = async (): Promise<void> => {
    for (let unit = waiting.shift(); unit !== undefined && !interrupted.signal.aborted; unit = waiting.shift())
      print(await run(unit), root, words.length > 0, totals);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (totals.failures.size <= Number(process.env.MOORAGE_TEST_AGAIN ?? 0)) await runAgain();
} finally {
  await postgres?.close();
  rmSync(templates, { recursive: true, force: true });
}
if (given.includes("--times")) printCpu(totals, TIMES);
if (process.env.MOORAGE_TEST_DEFECTS && totals.unsteady.size > 0)
  appendFileSync(process.env.MOORAGE_TEST_DEFECTS, `${defectsIn(totals)}\n`);
printTotals(totals, performance.now() - startMs);
process.exit(failedIn(totals) > 0 || interrupted.signal.aborted ? 1 : 0);

async function run(unit: Unit): Promise<Outcome> {
  return await runUnit(unit, options, { cwd: root, env: envs[unit.engine], signal: interrupted.signal, limitMs });
}

/**
 * Runs each failed file alone, twice. When both pass, its failure came from what ran beside it or from a rare timing:
 * it is a defect to mend, and does not fail the run. For runs that decide on much more than one file; off by default.
 */
async function runAgain(): Promise<void> {
  for (const [name, failure] of totals.failures) {
    console.log(`\n# again, alone: ${name}`);
    const again = newTotals();
    for (let time = 0; time < 2 && failedIn(again) === 0 && !interrupted.signal.aborted; time += 1)
      print(await run(failure.unit), root, true, again);
    if (failedIn(again) > 0 || interrupted.signal.aborted) continue;
    totals.failures.delete(name);
    totals.unsteady.set(name, failure);
    totals.passed += failure.count;
  }
}

/** The file that new databases of SQLite are copies of; empty where no test of this run opens one. */
async function sqliteTemplate(): Promise<string> {
  if (!units.some(({ engine, files }) => engine === "sqlite" && files.some((file) => USES_DATABASE.test(file))))
    return "";
  const { prepareSqliteTemplate } = await import("../packages/server/test/support/database.ts");
  return await prepareSqliteTemplate(templates);
}

async function startedPostgres(): Promise<TestPostgres> {
  const server = await startPostgres();
  process.env.MOORAGE_TEST_POSTGRES_URL = server.url;
  const { prepareTemplate } = await import("../packages/server/test/support/database.ts");
  console.log(`# PostgreSQL ${await prepareTemplate()}`);
  return server;
}
