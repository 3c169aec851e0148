import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { fingerprintOf } from "./fingerprint.ts";
import { BUNDLED_PACKAGES } from "../server-packages.ts";
import { bundleFolder } from "./folder.ts";
import { noticesOf } from "./notices.ts";
import { PROGRAMS, ROOT, writeBundle } from "./programs.ts";
import { sbomOf } from "./sbom.ts";

const run = promisify(execFile);

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "moorage-bundle-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** A repository with one source, and what bundles are made by. */
function repository(t: TestContext): string {
  const root = temporaryFolder(t);
  for (const name of BUNDLED_PACKAGES) {
    mkdirSync(join(root, "packages", name, "src"), { recursive: true });
    writeFileSync(join(root, "packages", name, "package.json"), "{}");
  }
  writeFileSync(join(root, "package-lock.json"), "{}");
  for (const path of ["scripts/bundle", "scripts/server-packages.ts"])
    cpSync(join(ROOT, path), join(root, path), { recursive: true });
  return root;
}

test("a source that is written, added or removed makes another bundle, a test does not", (t) => {
  const root = repository(t);
  const source = join(root, "packages/server/src/some.ts");
  const seen = [fingerprintOf(root)];
  writeFileSync(source, "one");
  seen.push(fingerprintOf(root));
  writeFileSync(source, "another");
  seen.push(fingerprintOf(root));
  writeFileSync(join(root, "packages/server/src/some.test.ts"), "");
  assert.equal(fingerprintOf(root), seen[2]);
  rmSync(source);
  assert.equal(fingerprintOf(root), seen[0]);
  assert.equal(new Set(seen).size, 3);
});

test("processes that make a bundle side by side get the same one, and leave nothing else", async (t) => {
  const root = repository(t);
  const program = `const { bundleFolder } = await import(${JSON.stringify(join(import.meta.dirname, "folder.ts"))});
    console.log(await bundleFolder({ root: ${JSON.stringify(root)} }));`;
  const made = await Promise.all(
    [1, 2, 3].map(() => run(process.execPath, ["--input-type=module", "--eval", program])),
  );
  assert.deepEqual(new Set(made.map(({ stdout }) => stdout.trim())), new Set([await bundleFolder({ root })]));
  const bundles = join(root, "build/bundles");
  assert.deepEqual(readdirSync(bundles), [fingerprintOf(root)]);
  for (const program of Object.keys(PROGRAMS))
    assert.ok(existsSync(join(bundles, fingerprintOf(root), `${program}.js`)), program);
});

test("the stack trace of a bundled program names the sources", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(
    join(folder, "thrower.ts"),
    "type Unused = string;\n\n\nexport function thrower(): void { throw new Error('x'); }",
  );
  writeFileSync(join(folder, "program.ts"), 'import { thrower } from "./thrower.ts";\nthrower();');
  const dir = join(folder, "bundle");
  await writeBundle(dir, { program: join(folder, "program.ts") });
  await assert.rejects(run(process.execPath, [join(dir, "program.js")]), ({ stderr }: { stderr: string }) => {
    assert.match(stderr, /at thrower \(.*\/thrower\.ts:4:\d+\)/);
    assert.match(stderr, /program\.ts:2:\d+/);
    return true;
  });
});

test("an import that leads nowhere makes no bundle", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "program.ts"), 'import "not-installed-at-all";');
  await assert.rejects(writeBundle(join(folder, "bundle"), { program: join(folder, "program.ts") }), /not-installed/);
});

test("the notices and the list of packages have each package once, and nothing of this repository", () => {
  const modules = [
    ...["@connectrpc/connect/dist/esm/index.js", "kysely/dist/index.js", "kysely/dist/kysely.js"].map((path) =>
      join(ROOT, "node_modules", path),
    ),
    join(ROOT, "scripts/pack.ts"),
  ];
  const text = noticesOf(modules);
  assert.equal(text.split("\n").filter((line) => /^kysely \d.*MIT/.test(line)).length, 1);
  assert.match(text, /Permission is hereby granted/);
  const sbom = JSON.parse(sbomOf(modules, { name: "moorage", version: "1.2.3" })) as {
    components: { purl: string; licenses: unknown }[];
  };
  assert.deepEqual(
    sbom.components.map(({ purl, licenses }) => [purl.replace(/@[\d.]+$/, "@"), licenses]),
    [
      ["pkg:npm/%40connectrpc/connect@", [{ expression: "Apache-2.0" }]],
      ["pkg:npm/kysely@", [{ expression: "MIT" }]],
    ],
  );
});
