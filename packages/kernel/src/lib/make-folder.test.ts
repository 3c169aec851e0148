import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "./make-folder.ts";

test("a folder is made with those above it, for its owner alone, and may be there", () => {
  const folder = join(mkdtempSync(join(tmpdir(), "moorage-folder-")), "a", "b");
  for (let time = 0; time < 2; time++) makeFolder(folder);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

test("in a folder that was deleted it ends", () => {
  const script = `import { rmSync } from "node:fs";
    import { makeFolder } from ${JSON.stringify(import.meta.resolve("./make-folder.ts"))};
    rmSync(process.argv[1], { recursive: true });
    makeFolder("./data");`;
  const folder = mkdtempSync(join(tmpdir(), "moorage-folder-"));
  const { signal } = spawnSync(process.execPath, ["--input-type=module", "--eval", script, "--", folder], {
    cwd: folder,
    encoding: "utf8",
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
  assert.equal(signal, null, "it was still trying");
});
