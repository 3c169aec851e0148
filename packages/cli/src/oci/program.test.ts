import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { linuxProgram, type Architecture } from "./program.ts";

const OWN: Partial<Record<string, Architecture>> = { x64: "amd64", arm64: "arm64" };

test("the program for this machine's architecture runs and prints its text", (t) => {
  const architecture = OWN[process.arch];
  if (process.platform !== "linux" || architecture === undefined) return t.skip("needs Linux on x64 or arm64");
  const folder = mkdtempSync(join(tmpdir(), "moorage-program-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "hello");
  writeFileSync(path, linuxProgram(architecture, "ahoy, zwölf\n"), { mode: 0o755 });
  const { stdout, status } = spawnSync(path, { encoding: "utf8", timeout: 120_000 });
  assert.equal(stdout, "ahoy, zwölf\n");
  assert.equal(status, 0);
});

test("the address in the arm64 program is that of its text", () => {
  const program = linuxProgram("arm64", "hello");
  const start = 120;
  const adr = program.readUInt32LE(start + 4);
  const offset = (((adr >>> 5) & 0x7ffff) << 2) | ((adr >>> 29) & 3);
  assert.equal(program.subarray(start + 4 + offset).toString(), "hello");
});
