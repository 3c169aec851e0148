import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { lockHolder, removeLocks, takeLock } from "./upload-lock.ts";

function fileIn(t: TestContext): { folder: string; path: string } {
  const folder = mkdtempSync(join(tmpdir(), "moorage-lock-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return { folder, path: join(folder, "upload") };
}

/** Starts another process that takes the lock, prints whether it got it, and ends without releasing it. */
function takenElsewhere(path: string): string {
  const module = JSON.stringify(new URL("./upload-lock.ts", import.meta.url).href);
  const program = `const { takeLock } = await import(${module}); process.stdout.write(await takeLock(${JSON.stringify(path)}, 7) ? "taken" : "refused");`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8", timeout: 120_000 });
}

test("while one process has the lock, no other gets it", async (t) => {
  const { folder, path } = fileIn(t);
  const lock = await takeLock(path, 42);
  assert.deepEqual(await lockHolder(path), { bytes: 42 });
  assert.equal(takenElsewhere(path), "refused");
  assert.equal(await takeLock(path, 42), undefined);
  await lock?.release();
  assert.equal(await lockHolder(path), undefined);
  assert.deepEqual(readdirSync(folder), []);
});

test("the lock of a process that ended is taken over by exactly one other", async (t) => {
  const { folder, path } = fileIn(t);
  for (let round = 0; round < 3; round++) {
    assert.equal(takenElsewhere(path), "taken");
    assert.equal(await lockHolder(path), undefined);
    const locks = await Promise.all(Array.from({ length: 20 }, () => takeLock(path, 0)));
    assert.equal(locks.filter((lock) => lock !== undefined).length, 1);
    for (const lock of locks) await lock?.release();
    assert.deepEqual(readdirSync(folder), []);
  }
});

test(
  "a process that reuses the pid of an ended one does not hold its lock",
  { skip: existsSync("/proc/self/stat") ? false : "needs /proc" },
  async (t) => {
    const { path } = fileIn(t);
    symlinkSync(`${process.pid}.1.0.5`, `${path}.lock`);
    assert.equal(await lockHolder(path), undefined);
    assert.notEqual(await takeLock(path, 0), undefined);
  },
);

test("removeLocks removes the lock files of an upload", async (t) => {
  const { folder, path } = fileIn(t);
  await takeLock(path, 0);
  symlinkSync("1.1.0.0", `${path}.takeover`);
  await removeLocks(path);
  assert.deepEqual(readdirSync(folder), []);
});
