import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";

const ROOT = dirname(import.meta.dirname);
const KERNEL = "packages/kernel";

/** What `npm run check:exports` says about a repository of these files. */
function problemsOf(t: TestContext, files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "moorage-exports-"));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  for (const file of ["knip.jsonc", "package.json", "tsconfig.json"]) cpSync(join(ROOT, file), join(root, file));
  mkdirSync(join(root, "node_modules/@moorage"), { recursive: true });
  symlinkSync(join(root, KERNEL), join(root, "node_modules/@moorage/kernel"));
  const program = join(ROOT, "node_modules/knip/bin/knip.js");
  const found = spawnSync(
    process.execPath,
    [program, "--no-progress", "--no-config-hints", "--include", "files,exports,types"],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  assert.equal(found.stderr, "");
  assert.equal(found.status, found.stdout === "" ? 0 : 1);
  return found.stdout;
}

const SERVER = {
  "packages/server/package.json": `{ "name": "@moorage/server", "dependencies": { "@moorage/kernel": "0.1.0" } }`,
  "packages/server/src/boot/cluster-worker.ts": `import { taken } from "@moorage/kernel/store";\ntaken();\n`,
};
const manifest = `{ "name": "@moorage/kernel", "exports": { "./store": "./src/store/index.ts" } }`;

test("an export that nobody takes is found, also of what a package exports, and a file that nobody imports", (t) => {
  const found = problemsOf(t, {
    ...SERVER,
    [`${KERNEL}/package.json`]: manifest,
    [`${KERNEL}/src/store/index.ts`]: `export { taken } from "./open.ts";\nexport { left } from "./open.ts";\n`,
    [`${KERNEL}/src/store/open.ts`]: `export const taken = (): void => {};\nexport const left = 1;\nexport const own = 2;\nexport type Shape = 3;\n`,
    [`${KERNEL}/src/store/lost.ts`]: `export const lost = 1;\n`,
  });
  assert.match(found, /Unused files \(1\)\npackages\/kernel\/src\/store\/lost\.ts/);
  assert.match(found, /left +packages\/kernel\/src\/store\/index\.ts/);
  assert.match(found, /own +packages\/kernel\/src\/store\/open\.ts/);
  assert.match(found, /Shape +type +packages\/kernel\/src\/store\/open\.ts/);
  assert.doesNotMatch(found, /taken/);
});

test("exports that others take are let through", (t) => {
  const found = problemsOf(t, {
    ...SERVER,
    [`${KERNEL}/package.json`]: manifest,
    [`${KERNEL}/src/store/index.ts`]: `export { taken } from "./open.ts";\n`,
    [`${KERNEL}/src/store/open.ts`]: `export const taken = (): void => {};\n`,
  });
  assert.equal(found, "");
});
