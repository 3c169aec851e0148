import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import {
  CHANGES_ITS_PROCESS,
  DEPENDS_ON_ENGINE,
  type Extent,
  FIRST,
  HEAVY,
  IN_BROWSER,
  OWN_PROCESS,
  partOf,
  planOf,
  TAKES_LONG,
  type Unit,
} from "./plan.ts";

const root = dirname(dirname(import.meta.dirname));
const plan = (extent: Extent, ...words: string[]): Unit[] =>
  planOf({ root, words, engines: ["sqlite", "postgres"], extent });
const runsOf = (units: Unit[]): string[] =>
  units.flatMap(({ engine, files }) => files.map((file) => `${engine} ${file}`));

test("npm test runs every file that does not take long on SQLite, once; test:all runs everything on both engines, and --rest only what npm test left out", () => {
  const [quick, all, rest] = (["quick", "all", "rest"] as const).map((extent) => runsOf(plan(extent)));
  assert.ok(quick && all && rest);
  for (const runs of [quick, all, rest]) assert.equal(new Set(runs).size, runs.length);
  const sqlite = (runs: string[]): string[] => runs.filter((run) => run.startsWith("sqlite ")).toSorted();
  const isLong = (run: string): boolean => TAKES_LONG.some((part) => run.includes(part));
  assert.deepEqual(
    sqlite(quick),
    sqlite(all).filter((run) => !isLong(run)),
  );
  const heavy = all.filter((run) => run.includes(HEAVY));
  assert.ok(
    heavy.length > 0 && heavy.every((run) => run.startsWith("sqlite ")),
    "CI has a section of its own for these",
  );
  assert.deepEqual(new Set([...quick, ...rest, ...heavy]), new Set(all));
  assert.ok(rest.length > 0 && rest.length < all.length);
});

test("the parts of the files on PostgreSQL are the whole together, and each has all files on SQLite", () => {
  const whole = runsOf(plan("rest"));
  const parts = ["1/2", "2/2"].map((text) =>
    runsOf(planOf({ root, words: [], engines: ["sqlite", "postgres"], extent: "rest", part: partOf(text) })),
  );
  const on = (engine: string, runs: readonly string[] = []): string[] =>
    runs.filter((run) => run.startsWith(`${engine} `)).toSorted();
  assert.deepEqual(on("postgres", parts.flat()), on("postgres", whole));
  for (const part of parts) {
    assert.deepEqual(on("sqlite", part), on("sqlite", whole));
    assert.ok(on("postgres", part).length * 2 <= on("postgres", whole).length + 1);
  }
  for (const text of ["", "0/2", "3/2", "1", "x/2"]) assert.throws(() => partOf(text), /--part=.*: must be as 1\/2/);
});

test("every part of a path in the plan matches an existing file", () => {
  const files = [...plan("all"), ...plan("all", IN_BROWSER)].flatMap((unit) => unit.files);
  for (const part of [...DEPENDS_ON_ENGINE, ...TAKES_LONG, ...FIRST, ...OWN_PROCESS])
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
