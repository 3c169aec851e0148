import assert from "node:assert/strict";
import test from "node:test";
import { bannedIn, namesOf, participleNamesIn, problemsIn } from "./check-words.ts";

const GLOSSARY = `# Glossary

| Term | Meaning |
|---|---|
| \`kept\` | not a row of the second table |

## Words not used

| Not | But |
|---|---|
| \`porch\`, \`alley\` | handler |
| \`hops\` (in prose) | attempts |
| \`old paper §\` | docs/contract.md |
`;
const banned = bannedIn(GLOSSARY);
const found = (line: string, file = "packages/a.ts"): string[] =>
  problemsIn(file, line, banned).map((problem) => /"(.*?)"|wider/.exec(problem)?.[0] ?? "");

test("the second table of the glossary says which words are not used, and what is", () => {
  assert.deepEqual(banned, [
    { word: "porch", instead: "handler", inProse: false },
    { word: "alley", instead: "handler", inProse: false },
    { word: "hops", instead: "attempts", inProse: true },
    { word: "old paper §", instead: "docs/contract.md", inProse: false },
  ]);
});

test("a word is found in prose, in names of any case and in messages, with its place", () => {
  for (const line of [
    "// Each porch",
    "const frontPorch = 1;",
    "const porchs = [];",
    "const PORCH_MS = 1;",
    'log("a porch failed")',
  ])
    assert.deepEqual(found(line), ['"porch"'], line);
  assert.deepEqual(problemsIn("docs/a.md", "one\nA porch.", banned), [
    'docs/a.md:2: "porch" is not used here: handler (docs/glossary.md)',
  ]);
  assert.deepEqual(found("// Source: old paper §4"), ['"old paper §"']);
});

test("parts of other words and quoted names are let alone", () => {
  for (const line of ["const valleys = [];", 'labels: ["porch"]', "// The label `porch`.", "const shops = [];"])
    assert.deepEqual(found(line), [], line);
});

test("a word that is a field as well is found in prose alone", () => {
  assert.deepEqual(found("const { hops } = row; // how many hops"), ['"hops"']);
  assert.deepEqual(found("const { hops } = row;"), []);
  assert.deepEqual(found(" * How many hops it took."), ['"hops"']);
  assert.deepEqual(found("How many hops it took.", "docs/a.md"), ['"hops"']);
});

test("a comment wider than the code is found, unless it is an address", () => {
  assert.deepEqual(found(`// ${"word ".repeat(24)}`), ["wider"]);
  assert.deepEqual(found(`// https://example.com/${"a".repeat(120)}`), []);
  assert.deepEqual(found(`const text = "${"a".repeat(130)}";`), []);
});

test("a file that a comment or a document names must be there", () => {
  const problems = (text: string): string[] =>
    problemsIn("packages/a.ts", text, [], (name) => name === "store/here.ts");
  assert.deepEqual(problems("// See store/here.ts."), []);
  assert.deepEqual(problems("// See store/gone.ts."), ["packages/a.ts:1: there is no file store/gone.ts"]);
  assert.deepEqual(problems(`import { a } from "./gone.ts";`), [], "the compiler looks at imports");
});

test("a path of the repository that a document names must be there, a folder too", () => {
  const names = namesOf(["packages/kernel/src/store/here.ts", "proto/here.proto", "README.md"]);
  const missing = (text: string, file = "docs/glossary.md"): string[] =>
    problemsIn(file, text, [], (name) => names.has(name) || names.has(`${name}/`)).map(
      (problem) => problem.split(/no (?:file|folder) /)[1] ?? problem,
    );
  assert.deepEqual(missing("`store/here.ts`, `src/store/`, `store/`, `proto/`, `here.proto`, `packages/kernel`"), []);
  assert.deepEqual(missing("`store/gone.ts`, `gone/`, `kernel/store/`, `proto/gone.proto`"), [
    "store/gone.ts",
    "gone/",
    "kernel/store/",
    "proto/gone.proto",
  ]);
  assert.deepEqual(missing("`packages/gone`, `uploads/`", "docs/s3.md"), ["packages/gone"]);
  assert.deepEqual(missing("`packages/<area>/gone.proto`, `/gone/`, `and/or`, `packages/*/gone.json`"), []);
  assert.deepEqual(missing("// `gone/`", "packages/a.ts"), [], "code");
});

test("a file that is called by a participle is found, by its last word", () => {
  const files = ["src/known.ts", "src/read-published.ts", "src/feed.ts", "src/known-values.ts", "src/held.test.ts"];
  assert.deepEqual(participleNamesIn(files), ["src/known.ts", "src/read-published.ts", "src/held.test.ts"]);
});
