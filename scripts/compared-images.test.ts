import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("../.ci/compared-images.sh", import.meta.url));

/** What .ci/compared-images.sh says of the kind when these programs, shell scripts, come first on the path. */
function said(kind: string, programs: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), "moorage-compared-"));
  try {
    const bin = path.join(folder, "bin");
    mkdirSync(bin);
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(path.join(bin, name), 0o755);
    }
    const env = { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` };
    return execFileSync(SCRIPT, [folder, kind], { env, encoding: "utf8", timeout: 60_000 });
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

test("a kind of images that is not made names the command that failed, also one that printed nothing", () => {
  assert.match(
    said("npm", { timeout: "exit 124" }),
    /^npm: not made: `.*npm install.*` took longer than its time limit: /,
  );
  assert.match(said("npm", { timeout: "exit 3" }), /^npm: not made: `.*npm install.*` ended with status 3: it printed/);
  const words = said("npm", { timeout: "echo one; echo 'no such package' >&2; exit 1" });
  assert.match(words, /` ended with status 1: no such package\n$/);
});
