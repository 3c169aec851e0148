import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { makeIfStale } from "./if-stale.ts";
import { isUpToDate, noteState, writeWhole } from "./state.ts";

const ROOT = join(import.meta.dirname, "../..");
const run = promisify(execFile);

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "moorage-gen-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** A clone with everything installed, without the files that are made. */
function clone(t: TestContext): string {
  const root = temporaryFolder(t);
  for (const path of ["package.json", "package-lock.json", "scripts", "docs/cli"])
    cpSync(join(ROOT, path), join(root, path), { recursive: true });
  const others = /\/(?:node_modules|dist|test)$|\/cli\/src\/gen$|\/console\/src\/api\/gen$/;
  cpSync(join(ROOT, "packages"), join(root, "packages"), { recursive: true, filter: (path) => !others.test(path) });
  for (const folder of ["node_modules", ...globSync("packages/*/node_modules", { cwd: ROOT })]) {
    mkdirSync(join(root, folder));
    for (const name of readdirSync(join(ROOT, folder)).filter((each) => each !== "@moorage"))
      symlinkSync(join(ROOT, folder, name), join(root, folder, name));
  }
  mkdirSync(join(root, "node_modules/@moorage"));
  for (const name of readdirSync(join(root, "packages")).filter((each) => each !== "cli"))
    symlinkSync(join(root, "packages", name), join(root, "node_modules/@moorage", name));
  return root;
}

const ready = (root: string): Promise<{ stdout: string; stderr: string }> =>
  run(process.execPath, ["scripts/ready.js"], { cwd: root, timeout: 120_000 });

test("a clone gets the files that git does not have, and gets them again when a source is newer", async (t) => {
  const root = clone(t);
  assert.deepEqual(await ready(root), { stdout: "", stderr: "" });
  await makeIfStale(ROOT);
  const folders = ["packages/cli/src/gen", "packages/console/src/api/gen", "build/docs"];
  const filesIn = (of: string): string[] =>
    globSync(
      folders.map((each) => `${each}/**/*.*`),
      { cwd: of },
    ).toSorted();
  assert.deepEqual(filesIn(root), filesIn(ROOT));
  for (const path of filesIn(root)) assert.equal(textOf(root, path), textOf(ROOT, path), path);

  const changedMs = (): number[] => filesIn(root).map((path) => statSync(join(root, path)).mtimeMs);
  const before = changedMs();
  await ready(root);
  assert.deepEqual(changedMs(), before, "nothing is newer");

  const examples = join(root, "docs/cli/command.md");
  writeFileSync(examples, readFileSync(examples, "utf8").replace("\n## apply\n", "\n## apply\nA new sentence.\n"));
  rmSync(join(root, "packages/cli/src/gen/resources/repos.ts"));
  writeFileSync(join(root, "packages/cli/src/gen/resources/old.ts"), "");
  await ready(root);
  assert.match(textOf(root, "build/docs/cli.md"), /^A new sentence\.$/m);
  assert.equal(
    textOf(root, "packages/cli/src/gen/resources/repos.ts"),
    textOf(ROOT, "packages/cli/src/gen/resources/repos.ts"),
  );
  assert.equal(existsSync(join(root, "packages/cli/src/gen/resources/old.ts")), false);
  const others = filesIn(root).map((path, at) => [path, statSync(join(root, path)).mtimeMs === before[at]]);
  assert.deepEqual(
    others.filter(([, isSame]) => isSame === false).map(([path]) => path),
    ["build/docs/cli.md", "packages/cli/src/gen/resources/repos.ts"],
  );

  writeFileSync(join(root, "scripts/cli-nouns.ts"), "throw new Error('no nouns');");
  await assert.rejects(ready(root), ({ stderr }: { stderr: string }) => {
    assert.match(stderr, /^generated files could not be made:\n[^]*cli-nouns\.ts/);
    return true;
  });
  await run(process.execPath, ["scripts/ready.js", "--installation"], { cwd: root });
  await run(process.execPath, ["scripts/ready.js", "--node"], { cwd: root });
});

test("where nothing is installed, or by an old Node, an npm script says in one line what to run", async (t) => {
  const root = temporaryFolder(t);
  cpSync(join(ROOT, "scripts"), join(root, "scripts"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(root, "package.json"));
  await assert.rejects(ready(root), { stderr: 'nothing is installed here: run "npm ci"\n', code: 1 });
  const old = "data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'20.20.2'}})";
  const byOldNode = (...args: string[]): ReturnType<typeof run> =>
    run(process.execPath, ["--import", old, "scripts/ready.js", ...args], { cwd: ROOT });
  const stderr = 'npm scripts run on Node 24.15 or later, and this is 20.20.2: "npm rebuild node" brings Node 26\n';
  await assert.rejects(byOldNode(), { stderr, code: 1 });
  assert.equal((await byOldNode("--installation")).stderr, stderr);
});

test("every npm script that runs Node makes what it needs, and says when it cannot", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  assert.equal(scripts["prepare"], "node scripts/ready.js --installation");
  const others = Object.entries(scripts).filter(
    ([name, text]) =>
      name !== "preinstall" &&
      /\b(?:node|tsc|vite|knip|oxlint) /.test(text) &&
      !text.startsWith("node scripts/ready.js"),
  );
  assert.deepEqual(others, []);
});

function textOf(root: string, path: string): string {
  return readFileSync(join(root, path), "utf8");
}

test("what was made is up to date until a source or a file that was made changes, comes or goes", (t) => {
  const root = temporaryFolder(t);
  mkdirSync(join(root, "folder"));
  for (const path of ["source", "folder/one", "made"]) writeFileSync(join(root, path), "text");
  assert.equal(isUpToDate(root), false, "nothing was made");
  const made = (): void => noteState(root, ["source", "folder", "folder/one"], ["made"]);
  const changes: [string, () => void][] = [
    ["a source is written", () => writeFileSync(join(root, "source"), "another text")],
    ["a file comes", () => writeFileSync(join(root, "folder/two"), "")],
    ["a file goes", () => rmSync(join(root, "folder/one"))],
    ["what was made is written by hand", () => writeFileSync(join(root, "made"), "by hand")],
    ["what was made is gone", () => rmSync(join(root, "made"))],
    ["the notes are broken", () => writeFileSync(join(root, "build/generated.json"), "{")],
  ];
  for (const [name, change] of changes) {
    made();
    assert.equal(isUpToDate(root), true, name);
    change();
    assert.equal(isUpToDate(root), false, name);
  }
});

test("a file is whole at every moment, and leaves nothing beside it", (t) => {
  const root = temporaryFolder(t);
  writeWhole(join(root, "below/file"), "one");
  writeWhole(join(root, "below/file"), "another");
  assert.equal(readFileSync(join(root, "below/file"), "utf8"), "another");
  assert.equal(existsSync(join(root, `below/file.${process.pid}.new`)), false);
});
