import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { checkLayers, circle } from "./check-layers.ts";
import { packageOfArea, sourcesOf } from "./server-packages.ts";

function packageOf(file: string): string {
  return packageOfArea(file.split("/")[0] ?? "") ?? "server";
}

/** What is wrong with a tree of these files, by their paths below the src of the package of their area. */
function problemsOf(t: test.TestContext, files: Record<string, string>): string[] {
  const root = mkdtempSync(path.join(tmpdir(), "moorage-layers-"));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    const own = name.startsWith("packages/") ? name : path.join(sourcesOf("", packageOf(name)), name);
    mkdirSync(path.join(root, path.dirname(own)), { recursive: true });
    writeFileSync(path.join(root, own), text);
  }
  return checkLayers(root);
}

const cases: [title: string, file: string, line: string, problem: RegExp | undefined][] = [
  ["a lower layer", "iam/groups.ts", `import { notFound } from "@moorage/kernel/errors";`, undefined],
  ["its own area", "iam/groups.ts", `import { a } from "./roles.ts";`, undefined],
  ["a feature through its index.ts", "oci/push.ts", `import type { Repo } from "../registry/index.ts";`, undefined],
  [
    "a higher layer",
    "iam/groups.ts",
    `import { listen } from "@moorage/server/transport/http/listen";`,
    /transport is not below iam/,
  ],
  ["the same layer", "events/tags.ts", `import { a } from "../auth/index.ts";`, /auth is not below events/],
  [
    "a type of a higher layer",
    "core/call.ts",
    `import type { A } from "@moorage/server/runtime/commands";`,
    /not below core/,
  ],
  ["over several lines", "iam/a.ts", `import {\n  a,\n  b,\n} from "../auth/keys.ts";`, /auth is not below iam/],
  ["a re-export", "iam/a.ts", `export * from "@moorage/registry/registry";`, /registry is not below iam/],
  ["for its effects alone", "iam/a.ts", `import "@moorage/registry/registry";`, /registry is not below iam/],
  [
    "import()",
    "iam/a.ts",
    `const a = await import("@moorage/server/transport/rest/handler");`,
    /transport is not below iam/,
  ],
  ["typeof import()", "iam/a.ts", `type A = typeof import("@moorage/server/boot/server");`, /boot is not below iam/],
  ["past an index.ts", "oci/push.ts", `import { a } from "../registry/repos.ts";`, /through its index\.ts alone/],
  ["an area without a layer", "iam/a.ts", `import { a } from "../elsewhere/of.ts";`, /"elsewhere" has no place/],
  [
    "from an area without a layer",
    "elsewhere/a.ts",
    `import { a } from "@moorage/kernel/errors";`,
    /"elsewhere" has no place/,
  ],
  [
    "an area of another package",
    "oci/push.ts",
    `import { a } from "@moorage/kernel/iam";`,
    /iam of @moorage\/kernel, which/,
  ],
  ["another package by a path", "iam/a.ts", `import { a } from "../../../kernel/src/errors.ts";`, /outside src/],
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

test("an area in another package than its own is found", (t) => {
  const problems = problemsOf(t, { "packages/registry/src/iam/a.ts": `import { b } from "./b.ts";` });
  assert.deepEqual(problems, ["iam/a.ts is in packages/registry: iam is an area of packages/platform"]);
});

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
  "registry/tables.ts": `import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
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
      "registry/repos.ts": `import { a } from "@moorage/kernel/errors"; await tx.updateTable("repos").execute();`,
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
    "oci/push.ts": `import { resource } from "@moorage/kernel/aip/resource";\nconst tags = resource({ message: A, table: "tags" });`,
    "registry/tags.ts": `import { resource } from "@moorage/kernel/aip/resource";\nconst tags = resource({ table: "tags" });`,
  });
  assert.deepEqual(problems, ["oci/push.ts writes the table tags, which is registry's alone to write"]);
});

test("columns without a declaration are found", (t) => {
  const text = TABLES["registry/tables.ts"].replace(`  repos: { key: ["uid"] },\n`, "");
  const problems = problemsOf(t, { ...TABLES, "registry/tables.ts": text });
  assert.deepEqual(problems, ["registry/tables.ts has the columns of repos, and does not declare it"]);
});
