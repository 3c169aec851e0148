import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { commandFiles } from "./files.ts";
import { packument } from "./packument.ts";
import { commandPage } from "./page.ts";

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "moorage-command-"));
  t.after(() => rmSync(made, { recursive: true, force: true, maxRetries: 10 }));
  return made;
}

test("where the command was not made the page says so, and there is neither file nor package", async (t) => {
  const files = commandFiles({ executables: "", built: join(folder(t), "nothing") });
  assert.match((await commandPage(files, "https://registry.example.com")).body, /has no command to hand out/);
  assert.equal(await files.open("moorage"), undefined);
  assert.equal(await packument(files, "https://registry.example.com"), undefined);
});

test("an empty file, which a full disk leaves, is none", async (t) => {
  const built = folder(t);
  writeFileSync(join(built, "moorage"), "");
  const files = commandFiles({ executables: "", built });
  assert.equal(await files.open("moorage"), undefined);
  assert.match((await commandPage(files, "https://registry.example.com")).body, /has no command to hand out/);
});

test("executables come from the folder that was named alone, and scripts never do", async (t) => {
  const [built, executables] = [folder(t), folder(t)];
  for (const name of ["moorage", "moorage-linux-x64"]) {
    writeFileSync(join(built, name), "built");
    writeFileSync(join(executables, name), "executable");
  }
  const files = commandFiles({ executables, built });
  for (const [name, size] of [
    ["moorage", "built".length],
    ["moorage-linux-x64", "executable".length],
  ] as const) {
    const file = await files.open(name);
    assert.equal(file?.size, size, name);
    await file?.handle.close();
  }
});

test("a version that is no version is not said", async (t) => {
  const built = folder(t);
  writeFileSync(join(built, "moorage"), "x");
  const files = commandFiles({ executables: "", built });
  assert.equal(await files.version("moorage"), undefined);
  for (const text of ["<b>1</b>", "1.2.3\n4", "9".repeat(5000), ""]) {
    writeFileSync(join(built, "version"), text);
    assert.equal(await files.version("moorage"), undefined, text.slice(0, 20));
  }
});
