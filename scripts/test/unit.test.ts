import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import test, { type TestContext } from "node:test";
import { type Outcome, runUnit } from "./unit.ts";

const LEAVES_A_PROCESS = `
import { spawn } from "node:child_process";
import test from "node:test";
test("leaves a process", () => {
  const child = spawn("sleep", ["600"], { stdio: ["ignore", "ignore", "inherit"] });
  if (process.env.DETACHES) child.unref();
});
`;

async function outcomeOf(t: TestContext, texts: string | string[], limitMs: number, env = {}): Promise<Outcome> {
  const cwd = mkdtempSync(join(tmpdir(), "moorage-unit-"));
  t.after(() => rmSync(cwd, { recursive: true }));
  const files = [texts].flat().map((text, at) => {
    writeFileSync(join(cwd, `${at}.test.mjs`), text);
    return `${at}.test.mjs`;
  });
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("NODE_TEST"));
  return await runUnit({ engine: "sqlite", files }, [], {
    cwd,
    env: { ...Object.fromEntries(own), ...env },
    signal: new AbortController().signal,
    limitMs,
  });
}

test("a unit whose tests leave a process running ends at its limit, and is broken", { timeout: 300_000 }, async (t) => {
  for (const env of [{}, { DETACHES: "1" }]) {
    const { broken, lines } = await outcomeOf(t, LEAVES_A_PROCESS, 3000, env);
    assert.deepEqual(
      lines.map(({ type }) => type),
      ["pass"],
    );
    assert.match(broken ?? "", /did not end within 3 s/);
  }
});

test("a unit that ends by itself is not broken, whether its tests pass or fail", async (t) => {
  const failing = `import test from "node:test"; test("fails", () => { throw new Error("no"); });`;
  const passing = `import test from "node:test"; test("passes", () => {});`;
  for (const [text, type] of [
    [passing, "pass"],
    [failing, "fail"],
  ] as const) {
    const { broken, lines } = await outcomeOf(t, text, 60_000);
    assert.equal(broken, undefined);
    assert.deepEqual(
      lines.map((line) => line.type),
      [type],
    );
  }
});

const BUSY = `
import { spawnSync } from "node:child_process";
import test from "node:test";
test("has a process that is busy", () => {
  spawnSync(process.execPath, ["-e", "while (process.cpuUsage().user < 500_000) {}"]);
});
`;

test(
  "a unit's processor time has that of the processes that its tests started",
  { skip: process.platform !== "linux" && "the time of other processes is read from /proc" },
  async (t) => {
    const { cpuMs = 0, lines } = await outcomeOf(t, BUSY, 60_000);
    assert.ok(cpuMs >= 500, `${cpuMs} ms`);
    const [line] = lines;
    assert.ok(line?.type === "pass" && line.cpuMs >= 500);
  },
);

const HOOKS = `
import assert from "node:assert";
import test, { after, before, beforeEach, describe } from "node:test";
let ran = globalThis.others ?? 0;
assert.equal(globalThis.open ?? 0, 0, "the hooks of the file before have run");
before(() => { globalThis.open = 1; });
after(() => { globalThis.open = 0; });
beforeEach(() => { ran += 1; });
test("sees what stands below", () => assert.deepEqual([globalThis.open, ran, BELOW], [1, 1, "below"]));
describe("a suite", () => void test("within", () => assert.equal(ran, 2)));
const BELOW = "below";
`;

test("files of a process run one after the other, each with its own hooks, and fail by themselves", async (t) => {
  const wrong = `import test from "node:test"; test("passes", () => {}); throw new Error("not loaded");`;
  const { lines, broken } = await outcomeOf(t, [HOOKS, wrong, HOOKS], 60_000);
  assert.equal(broken, undefined);
  const shown = lines.flatMap((line) =>
    line.type === "note" ? [] : [[line.type, basename(line.file), line.names.join(" > ")]],
  );
  const whole = (name: string): string[][] => [
    ["pass", name, "sees what stands below"],
    ["pass", name, "a suite > within"],
    ["suite", name, "a suite"],
    ["suite", name, ""],
  ];
  assert.deepEqual(shown, [
    ...whole("0.test.mjs"),
    // What had begun is canceled.
    ["fail", "1.test.mjs", "passes"],
    ["fail", "1.test.mjs", ""],
    ...whole("2.test.mjs"),
  ]);
});
