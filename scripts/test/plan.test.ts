import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { CHANGES_ITS_PROCESS, type Extent, planOf, type Unit } from "./plan.ts";
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

const root = dirname(dirname(import.meta.dirname));
const plan = (extent: Extent, ...words: string[]): Unit[] =>
  planOf({ root, words, engines: ["sqlite", "postgres"], extent });
const runsOf = (units: Unit[]): string[] =>
  units.flatMap(({ engine, files }) => files.map((file) => `${engine} ${file}`));

test("npm test runs every file that does not take long on SQLite, once; CI and the night add all else on both engines", () => {
  const [quick, all, ci, nightly] = (["quick", "all", "ci", "nightly"] as const).map((extent) => runsOf(plan(extent)));
  assert.ok(quick && all && ci && nightly);
  for (const runs of [quick, all, ci, nightly]) assert.equal(new Set(runs).size, runs.length);
  const sqlite = (runs: string[]): string[] => runs.filter((run) => run.startsWith("sqlite ")).toSorted();
  const isIn = (parts: readonly string[], run: string): boolean => parts.some((part) => run.includes(part));
  assert.deepEqual(
    sqlite(quick),
    sqlite(all).filter((run) => !isIn(TAKES_LONG, run)),
  );
  const heavy = all.filter((run) => run.includes(HEAVY));
  assert.ok(
    heavy.length > 0 && heavy.every((run) => run.startsWith("sqlite ")),
    "the night has a section of its own for these",
  );
  const apart = sqlite(all).filter((run) => isIn(IN_OTHER_SECTIONS, run));
  assert.deepEqual(new Set([...quick, ...ci, ...nightly, ...heavy]), new Set(all));
  assert.deepEqual(sqlite([...quick, ...ci, ...apart, ...heavy]), sqlite(all), "on SQLite CI plays everything else");
  const beforeLanding = readFileSync(join(root, ".ci/run"), "utf8");
  for (const part of IN_OTHER_SECTIONS) assert.ok(beforeLanding.includes(` ${part}`), `.ci/run plays ${part}`);
  for (const run of ci) assert.ok(run.startsWith("sqlite ") || isIn([...SQL_BY_HAND, ...DEPENDS_ON_ENGINE], run), run);
});

test("every part of a path in the plan matches an existing file", () => {
  const files = [...plan("all"), ...plan("all", IN_BROWSER)].flatMap((unit) => unit.files);
  for (const part of [
    ...DEPENDS_ON_ENGINE,
    ...SQL_BY_HAND,
    ...IN_OTHER_SECTIONS,
    ...TAKES_LONG,
    ...FIRST,
    ...OWN_PROCESS,
  ])
    assert.ok(
      files.some((file) => file.includes(part)),
      part,
    );
});

test("words limit the run to files on both engines", () => {
  assert.deepEqual(runsOf(plan("quick", "api/etags")), [
    "sqlite packages/server/test/api/etags.test.ts",
    "postgres packages/server/test/api/etags.test.ts",
  ]);
  assert.deepEqual(plan("quick", "no such file"), []);
  const short = planOf({ root, words: ["packages/security/"], engines: ["sqlite"], extent: "quick", short: true });
  const wanted = runsOf(plan("quick")).filter((run) => run.startsWith("sqlite packages/security/"));
  assert.ok(wanted.length > 10);
  assert.deepEqual(runsOf(short).toSorted(), wanted.toSorted());
});

test("a file that changes its process has it alone; so has each where options name tests", () => {
  const shared = plan("all").flatMap(({ files }) => (files.length === 1 ? [] : files));
  assert.deepEqual(
    shared.filter((file) => {
      const text = readFileSync(join(root, file), "utf8");
      return CHANGES_ITS_PROCESS.some((pattern) => pattern.test(text));
    }),
    [],
  );
  assert.ok(!shared.some((file) => file.includes("/faults/")));
  const apart = planOf({ root, words: ["api/"], engines: ["sqlite"], extent: "quick", apart: true });
  assert.ok(apart.length > 10 && apart.every(({ files }) => files.length === 1));
});
