import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";

const SECTIONS = join(import.meta.dirname, "..", ".ci", "sections.sh");

/** Runs a script with the functions of sections, in a folder of its own: its exit status and its last lines. */
function summaryOf(t: TestContext, script: string): { status: number | null; lines: string[] } {
  const cwd = mkdtempSync(join(tmpdir(), "moorage-sections-"));
  t.after(() => rmSync(cwd, { recursive: true, maxRetries: 10 }));
  const { status, stdout } = spawnSync("bash", ["-c", `source "${SECTIONS}"\n${script}`], { cwd, encoding: "utf8" });
  return { status, lines: (stdout.split("=== summary\n").at(-1) ?? "").trimEnd().split("\n") };
}

test("a section that cannot run names the program that is missing, and the run goes on", (t) => {
  const { status, lines } = summaryOf(
    t,
    `section "first" 10 bash -c 'echo "tools: crane: not run: no go on PATH"; echo more; exit 77'
     section "second" 10 true
     LAST_END=$((SECONDS - STARTED + 9))
     section "third" 10 true
     section "fourth" 5 true
     summary`,
  );
  assert.equal(status, 0);
  assert.equal(lines[0], "first: NOT RUN, or not completely: tools: crane: not run: no go on PATH");
  assert.match(lines[1] ?? "", /^second: passed in \d+ s$/);
  assert.match(lines[2] ?? "", /^third: NOT RUN: the sections before it took \d+ s, and it may take 10 s$/);
  assert.match(lines[3] ?? "", /^fourth: passed in \d+ s$/, "a shorter one still has its time");
});

test("a section that fails ends the run; tests that failed once come first in the summary", (t) => {
  const { status, lines } = summaryOf(
    t,
    `section "first" 10 bash -c 'echo "SQLite some.test.ts" >> "$MOORAGE_TEST_DEFECTS"'
     section "second" 10 bash -c 'exit 3'
     section "third" 10 true`,
  );
  assert.equal(status, 1);
  assert.deepEqual(lines.slice(0, 2), [
    "DEFECTS TO MEND: these tests failed, and passed when they ran again alone",
    "  SQLite some.test.ts",
  ]);
  assert.match(lines[3] ?? "", /^second: FAILED with status 3 after \d+ s$/);
  assert.equal(lines.length, 4);
});

test("without docker its section says so, and the run goes on", (t) => {
  const bin = mkdtempSync(join(tmpdir(), "moorage-bin-"));
  t.after(() => rmSync(bin, { recursive: true, maxRetries: 10 }));
  // A machine whose daemon does not start.
  for (const [name, text] of [
    ["id", "echo 0"],
    ["docker", "exit 1"],
    ["dockerd", "echo 'no cgroups here'; exit 1"],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const script = join(import.meta.dirname, "..", ".ci", "docker.sh");
  const { status, lines } = summaryOf(t, `PATH="${bin}:$PATH" section "docker" 60 "${script}"\nsummary`);
  assert.equal(status, 0);
  assert.equal(
    lines[0],
    "docker: NOT RUN, or not completely: docker: not run: its daemon does not start here: no cgroups here",
  );
});
