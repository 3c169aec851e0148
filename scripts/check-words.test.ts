import assert from "node:assert/strict";
import test from "node:test";
import { bannedIn, problemsIn } from "./check-words.ts";

const GLOSSARY = `# Glossary

| Term | Meaning |
|---|---|
| \`kept\` | not a row of the second table |

## Words not used

| Not | But |
|---|---|
| \`door\`, \`lane\` | handler |
| \`tries\` (in prose) | attempts |
| \`contract §\` | docs/contract.md |
`;
const banned = bannedIn(GLOSSARY);
const found = (line: string, file = "packages/a.ts"): string[] =>
  problemsIn(file, line, banned).map((problem) => /"(.*?)"|wider/.exec(problem)?.[0] ?? "");

test("the second table of the glossary says which words are not used, and what is", () => {
  assert.deepEqual(banned, [
    { word: "door", instead: "handler", inProse: false },
    { word: "lane", instead: "handler", inProse: false },
    { word: "tries", instead: "attempts", inProse: true },
    { word: "contract §", instead: "docs/contract.md", inProse: false },
  ]);
});

test("a word is found in prose, in names of any case and in messages, with its place", () => {
  for (const line of [
    "// Each door",
    "const frontDoor = 1;",
    "const doors = [];",
    "const DOOR_MS = 1;",
    'log("a door failed")',
  ])
    assert.deepEqual(found(line), ['"door"'], line);
  assert.deepEqual(problemsIn("docs/a.md", "one\nA door.", banned), [
    'docs/a.md:2: "door" is not used here: handler (docs/glossary.md)',
  ]);
  assert.deepEqual(found("// Source: contract §4"), ['"contract §"']);
});

test("parts of other words and quoted names are let alone", () => {
  for (const line of [
    "const planes = indoors;",
    'labels: ["door"]',
    "// The label `door`.",
    "const entries = retries;",
  ])
    assert.deepEqual(found(line), [], line);
});

test("a word that is a field as well is found in prose alone", () => {
  assert.deepEqual(found("const { tries } = row; // how many tries"), ['"tries"']);
  assert.deepEqual(found("const { tries } = row;"), []);
  assert.deepEqual(found(" * How many tries it took."), ['"tries"']);
  assert.deepEqual(found("How many tries it took.", "docs/a.md"), ['"tries"']);
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
