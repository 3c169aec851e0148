import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { checkLayers, circle } from "./check-layers.ts";

/** What is wrong with a tree of these files. */
function problemsOf(t: test.TestContext, files: Record<string, string>): string[] {
  const src = mkdtempSync(path.join(tmpdir(), "moorage-layers-"));
  t.after(() => rmSync(src, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.join(src, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(src, name), text);
  }
  return checkLayers(src);
}

const cases: [title: string, file: string, line: string, problem: RegExp | undefined][] = [
  ["a lower layer", "iam/groups.ts", `import { notFound } from "../errors.ts";`, undefined],
  ["its own area", "iam/groups.ts", `import { a } from "./roles.ts";`, undefined],
  ["a feature through its index.ts", "oci/push.ts", `import type { Repo } from "../registry/index.ts";`, undefined],
  [
    "a higher layer",
    "iam/groups.ts",
    `import { listen } from "../transport/http/listen.ts";`,
    /transport is not below iam/,
  ],
  ["the same layer", "registry/tags.ts", `import { a } from "../events/outbox.ts";`, /events is not below registry/],
  ["a type of a higher layer", "core/call.ts", `import type { A } from "../runtime/commands.ts";`, /not below core/],
  ["over several lines", "iam/a.ts", `import {\n  a,\n  b,\n} from "../auth/keys.ts";`, /auth is not below iam/],
  ["a re-export", "iam/a.ts", `export * from "../registry/repos.ts";`, /registry is not below iam/],
  ["for its effects alone", "iam/a.ts", `import "../registry/repos.ts";`, /registry is not below iam/],
  ["import()", "iam/a.ts", `const a = await import("../transport/rest/handler.ts");`, /transport is not below iam/],
  ["typeof import()", "iam/a.ts", `type A = typeof import("../boot/server.ts");`, /boot is not below iam/],
  ["past an index.ts", "oci/push.ts", `import { a } from "../registry/repos.ts";`, /through its index\.ts alone/],
  ["an area without a layer", "iam/a.ts", `import { a } from "../elsewhere/of.ts";`, /"elsewhere" has no place/],
  ["from an area without a layer", "elsewhere/a.ts", `import { a } from "../errors.ts";`, /"elsewhere" has no place/],
  ["outside src", "iam/a.ts", `import { a } from "../../test/a.ts";`, /outside src/],
];
for (const [title, file, line, problem] of cases) {
  test(`imports: ${title}`, (t) => {
    const problems = problemsOf(t, { "registry/index.ts": "export {};", [file]: line });
    if (problem === undefined) assert.deepEqual(problems, []);
    else {
      assert.equal(problems.length, 1, problems.join("\n"));
      assert.match(problems[0] ?? "", problem);
    }
  });
}

test("a comment imports nothing, and a tree without imports is an error of the check", (t) => {
  const problems = problemsOf(t, { "iam/a.ts": `// import { a } from "../boot/server.ts";` });
  assert.match(problems.join(), /no import was found/);
});

test("a circle of values is found", (t) => {
  const files = { "iam/a.ts": `import { b } from "./b.ts";`, "iam/b.ts": `import { a } from "./a.ts";` };
  assert.match(problemsOf(t, files).join(), /a circle of imports: iam\/a\.ts → iam\/b\.ts → iam\/a\.ts/);
  const graph = new Map([
    ["a", ["b"]],
    ["b", ["c"]],
    ["c", ["b"]],
  ]);
  assert.deepEqual(circle(graph), ["b", "c", "b"]);
});

const orders: [title: string, files: Record<string, string>, problem: string | undefined][] = [
  [
    "two files by their types alone",
    { "iam/a.ts": `import type { b } from "./b.ts";`, "iam/b.ts": `import type { a } from "./a.ts";` },
    "iam has no order: iam/a.ts imports iam/b.ts, iam/b.ts imports iam/a.ts",
  ],
  [
    "a folder and a file above it",
    { "oci/tags/a.ts": `import { b } from "../b.ts";`, "oci/b.ts": `import { c } from "./tags/c.ts";` },
    "oci has no order: oci/b.ts imports oci/tags/c.ts, oci/tags/a.ts imports oci/b.ts",
  ],
  [
    "two folders, by files that do not know each other",
    { "oci/a/1.ts": `import { b } from "../b/1.ts";`, "oci/b/2.ts": `import { a } from "../a/2.ts";` },
    "oci has no order: oci/a/1.ts imports oci/b/1.ts, oci/b/2.ts imports oci/a/2.ts",
  ],
  [
    "a folder that imports from above what does not import it",
    { "oci/tags/a.ts": `import { b } from "../b.ts";`, "oci/c.ts": `import { a } from "./tags/a.ts";` },
    undefined,
  ],
];
for (const [title, files, problem] of orders) {
  test(`the order inside a folder: ${title}`, (t) => {
    assert.deepEqual(problemsOf(t, files), problem === undefined ? [] : [problem]);
  });
}

const TABLES = {
  "registry/index.ts": `export { touch } from "./touch.ts";`,
  "registry/touch.ts": `export function touch(db, table) { return db.updateTable(table).set({}); }`,
  "registry/tables.ts": `import { declareTables } from "../store/index.ts";

declare module "../store/tables.ts" {
  interface Tables {
    /** A comment. */
    tags: { uid: string };
    repos: {
      uid: string;
      name: string;
    };
  }
}

export const REGISTRY_TABLES = declareTables({
  tags: { key: ["uid"] },
  repos: { key: ["uid"] },
});
`,
};
const writes: [title: string, code: string, table: string | undefined][] = [
  ["by the query builder", `await tx.insertInto("tags").values(row).execute();`, "tags"],
  ["over several lines", `await tx\n  .deleteFrom("repos")\n  .execute();`, "repos"],
  ["by SQL", 'const add = statement("insert into tags (uid) values (?)");', "tags"],
  ["by SQL that updates", "const move = statement(`update tags set uid = ?`);", "tags"],
  ["in a loop over names", `for (const table of ["repos"] as const) await tx.deleteFrom(table).execute();`, "repos"],
  [
    "by a function that is given the table",
    `import { touch } from "../registry/index.ts";\ntouch(tx, "tags");`,
    "tags",
  ],
  ["any other function may be given a table", `read("repos");`, undefined],
  ["reading is free", `await tx.selectFrom("tags").execute();`, undefined],
  ["a comment writes nothing", `// await tx.insertInto("tags")`, undefined],
];
for (const [title, code, table] of writes) {
  test(`a table of another area is written: ${title}`, (t) => {
    const problems = problemsOf(t, {
      ...TABLES,
      "registry/repos.ts": `import { a } from "../errors.ts"; await tx.updateTable("repos").execute();`,
      "oci/push.ts": code,
    });
    const wanted = `oci/push.ts writes the table ${table}, which is registry's alone to write`;
    assert.deepEqual(problems, table === undefined ? [] : [wanted]);
  });
}

test("a generic writer's caller writes the table that it names", (t) => {
  const problems = problemsOf(t, {
    ...TABLES,
    "aip/resource.ts": `export function resource(spec) { return (tx) => tx.insertInto(spec.table); }`,
    "oci/push.ts": `import { resource } from "../aip/resource.ts";\nconst tags = resource({ message: A, table: "tags" });`,
    "registry/tags.ts": `import { resource } from "../aip/resource.ts";\nconst tags = resource({ table: "tags" });`,
  });
  assert.deepEqual(problems, ["oci/push.ts writes the table tags, which is registry's alone to write"]);
});

test("columns without a declaration are found", (t) => {
  const text = TABLES["registry/tables.ts"].replace(`  repos: { key: ["uid"] },\n`, "");
  const problems = problemsOf(t, { ...TABLES, "registry/tables.ts": text });
  assert.deepEqual(problems, ["registry/tables.ts has the columns of repos, and does not declare it"]);
});
