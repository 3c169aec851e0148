import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { run, temporaryFolder } from "./commands.ts";

const DEMO = fileURLToPath(new URL("../src/demo/main.ts", import.meta.url));

test("the demo runs its steps, ends with the pinned reference and leaves nothing behind", async (t) => {
  const folder = temporaryFolder(t);
  const { code, stdout, stderr } = await run(process.execPath, [DEMO], { cwd: folder, env: { TMPDIR: folder } });
  assert.equal(code, 0, `${stdout}\n${stderr}`);
  assert.match(stdout.trimEnd().split("\n").at(-1) ?? "", /^ {2}127\.0\.0\.1:\d+\/acme\/hello@sha256:[0-9a-f]{64}$/);
  assert.equal(stdout.match(/│ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z │ sha256:[0-9a-f]{64} │/g)?.length, 2);
  // A finding for each architecture opens and closes.
  for (const platform of ["linux/amd64", "linux/arm64"]) {
    for (const change of ["opened", "closed"])
      assert.match(stdout, new RegExp(`finding\\.${change}\\.v1 +│ acme/hello:latest +│ ${platform} `));
    assert.match(stdout, new RegExp(`CVE-2026-0001 +│ CRITICAL +│ latest +│ ${platform} +│ pkg:npm/hello`));
  }
  assert.deepEqual(readdirSync(folder), []);
});

test("an interrupted demo ends its server, removes its folder and says so", async (t) => {
  const folder = temporaryFolder(t);
  const child = spawn(process.execPath, [DEMO], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const errors = text(child.stderr);
  const [, url] = await firstMatch(child.stdout, /moorage serve .*(http:\/\/[\d.:]+)/);
  assert.ok(url);
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [1, null]);
  assert.match(await errors, /demo failed: stopped by SIGTERM/);
  assert.deepEqual(readdirSync(folder), []);
  await assert.rejects(fetch(url), "the server still answers");
});

async function firstMatch(stream: Readable, pattern: RegExp): Promise<RegExpExecArray> {
  for await (const line of createInterface({ input: stream })) {
    const match = pattern.exec(line);
    if (match !== null) return match;
  }
  throw new Error("the output ended without the line");
}
