import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

const root = dirname(import.meta.dirname);

/** Where readers are in a clone, and have nothing of it on their PATH. */
const IN_A_CLONE = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "docs/mirroring.md",
  "docs/moving.md",
  "packages/cli/src/own-command.ts",
];

test("npx moorage stands only where the text is about this clone: elsewhere npx would fetch the name", () => {
  const files = globSync(
    ["*.md", "docs/**/*.md", "packages/*/src/**/*.{ts,tsx}", "packages/*/README.md", "deploy/**/*"],
    {
      cwd: root,
      withFileTypes: true,
    },
  ).filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"));
  assert.ok(files.length > 1000, String(files.length));
  const found = files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => /npx (?:moorage|docker-credential)/.test(readFileSync(path, "utf8")))
    .map((path) => path.slice(root.length + 1));
  assert.deepEqual(
    found.filter((path) => !IN_A_CLONE.includes(path)),
    [],
  );
});

test("a document whose commands run has the clone's programs on the PATH before it uses them", () => {
  for (const path of globSync("docs/{*,api/*}.md", { cwd: root })) {
    const [, first = ""] = /^```sh *\n([^]*?)^```/m.exec(readFileSync(join(root, path), "utf8")) ?? [];
    if (/\bmoorage(?:-\w+)? /.test(first))
      assert.match(first, /^export PATH=\$PWD\/node_modules\/\.bin:\$PATH\n/, path);
  }
});
