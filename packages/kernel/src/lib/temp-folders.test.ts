import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { makeTempFolder, removeOrphanedTempFolders } from "./temp-folders.ts";

/** A folder for temporary files of this test alone. */
function ownTemp(t: TestContext): string {
  const before = process.env["TMPDIR"];
  const path = mkdtempSync(join(tmpdir(), "moorage-test-temp-"));
  process.env["TMPDIR"] = path;
  t.after(() => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(path, { recursive: true });
  });
  return path;
}

test("a folder is removed with what is in it, and nothing of it is left", async (t) => {
  const temp = ownTemp(t);
  const folder = makeTempFolder("catalog");
  assert.deepEqual(readdirSync(folder.path), []);
  writeFileSync(join(folder.path, "held"), "content");
  await folder.remove();
  await folder.remove();
  assert.deepEqual(readdirSync(temp), []);
});

test("folders of processes that were killed are removed, those of live ones and of others stay", async (t) => {
  const temp = ownTemp(t);
  const child = fork(new URL("../../../server/test/support/temp-folder-child.ts", import.meta.url), []);
  t.after(() => child.kill("SIGKILL"));
  const [path] = (await once(child, "message")) as [string];
  const own = makeTempFolder("feed");
  // Of an older version, which had no lock, and what only looks like one.
  const [old, fresh, other] = ["moorage-catalog-oldold", "moorage-catalog-freshh", "moorage-sample"].map((name) =>
    join(temp, name),
  ) as [string, string, string];
  for (const each of [old, fresh, other]) mkdirSync(each);
  utimesSync(old, 1, 1);
  utimesSync(other, 1, 1);
  symlinkSync(other, join(temp, "moorage-catalog-linked"));
  assert.deepEqual(await removeOrphanedTempFolders(), [old]);
  assert.ok(existsSync(join(path, "held")));
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.deepEqual(await removeOrphanedTempFolders(), [dirname(path)]);
  assert.ok([own.path, fresh, other].every((each) => existsSync(each)));
  await own.remove();
});
