import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { isRunning } from "../../../../server/test/support/children.ts";
import { type ProcessPool, processPool, type ProcessPoolOptions, TaskError } from "./index.ts";
import { eventually } from "../../../../server/test/support/eventually.ts";

const SUPPORT = new URL("../../../../server/test/support/", import.meta.url);
const LIMIT = { timeout: 300_000 };
const TIMEOUT = { timeoutMs: 60_000 };

interface Echo {
  input: unknown;
  data: unknown;
  pid: number;
}

function poolOf(t: TestContext, options: Partial<ProcessPoolOptions> = {}): ProcessPool {
  const module = new URL("pool-tasks.ts", SUPPORT);
  const pool = processPool({ module, size: 1, maxHeapMiB: 64, idleMs: 0, maxWaiting: 10, ...options });
  t.after(() => pool.stop());
  return pool;
}

const pidOf = async (pool: ProcessPool): Promise<number> => (await pool.run<Echo>("echo", "", TIMEOUT)).pid;

async function failsAs(kind: string, work: Promise<unknown>, message = /./): Promise<TaskError> {
  const error = await work.then(
    () => assert.fail(`it did not fail as ${kind}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof TaskError, String(error));
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, message);
  return error;
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "moorage-test-pool-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

test("a task gets its input and the data of the pool, and one child stays for the next", LIMIT, async (t) => {
  const pool = poolOf(t, { data: { place: "here" } });
  const input = { bytes: new Uint8Array([1, 2, 3]), list: [1, "two", undefined] };
  const first = await pool.run<Echo>("echo", input, TIMEOUT);
  assert.deepEqual(first.input, input);
  assert.deepEqual(first.data, { place: "here" });
  assert.notEqual(first.pid, process.pid);
  assert.equal(await pidOf(pool), first.pid);
  // An input that is made when the task begins.
  assert.equal((await pool.run<Echo>("echo", () => Promise.resolve("made"), TIMEOUT)).input, "made");
});

test("a child has neither the server's environment nor its options", LIMIT, async (t) => {
  process.env["MOORAGE_TEST_SECRET"] = "secret";
  process.env["MOORAGE_TEST_WANTED"] = "wanted";
  t.after(() => {
    delete process.env["MOORAGE_TEST_SECRET"];
    delete process.env["MOORAGE_TEST_WANTED"];
  });
  const pool = poolOf(t, { environment: ["MOORAGE_TEST_WANTED"] });
  const { env, execArgv } = await pool.run<{ env: Record<string, string>; execArgv: string[] }>(
    "surroundings",
    "",
    TIMEOUT,
  );
  assert.equal(env["MOORAGE_TEST_WANTED"], "wanted");
  for (const name of ["MOORAGE_TEST_SECRET", "NODE_OPTIONS", "PATH", "HOME"]) assert.equal(env[name], undefined, name);
  assert.deepEqual(execArgv, ["--max-old-space-size=64"]);
});

test("what a task throws is its answer, and ends no child", LIMIT, async (t) => {
  const pool = poolOf(t);
  const pid = await pidOf(pool);
  assert.equal(
    (await failsAs("failed", pool.run("fail", { message: "damaged", isFinal: true }, TIMEOUT), /^damaged$/)).isFinal,
    true,
  );
  assert.equal((await failsAs("failed", pool.run("fail", { message: "later" }, TIMEOUT), /^later$/)).isFinal, false);
  await failsAs("failed", pool.run("toString", "", TIMEOUT), /no task toString/);
  await failsAs("failed", pool.run("echo", { notData: () => {} }, TIMEOUT), /cannot be sent/);
  assert.equal(await pidOf(pool), pid);
});

test("a task in a native call that never ends is killed at its deadline, and the next one runs", LIMIT, async (t) => {
  const deaths: string[] = [];
  const pool = poolOf(t, { onDeath: (reason, kind) => void deaths.push(`${kind}: ${reason}`) });
  const pid = await pidOf(pool);
  const hung = pool.run("hang", { began: join(folder(t), "began") }, { timeoutMs: 500 });
  const next = pidOf(pool);
  await failsAs("timeout", hung, /longer than 500 ms/);
  assert.notEqual(await next, pid);
  assert.deepEqual(deaths, ["timeout: it took longer than 500 ms"]);
  await eventually(() => !isRunning(pid));
});

test("a child that takes too much memory dies for that reason, on its heap and beside it", LIMIT, async (t) => {
  const pool = poolOf(t, { maxRssMiB: 400 });
  await failsAs("memory", pool.run("heap", "", TIMEOUT), /memory/);
  await failsAs("memory", pool.run("buffers", "", TIMEOUT), /memory/);
  await pidOf(pool);
});

test("a child that exits, or is killed by somebody else, is answered for and replaced", LIMIT, async (t) => {
  const deaths: string[] = [];
  const pool = poolOf(t, { onDeath: (reason) => void deaths.push(reason) });
  await failsAs("died", pool.run("exit", "", TIMEOUT), /ended with code 7/);
  const began = join(folder(t), "began");
  const hung = failsAs("died", pool.run("hang", { began }, TIMEOUT), /was ended by SIGKILL/);
  await eventually(() => existsSync(began) && readFileSync(began, "utf8") !== "");
  process.kill(Number(readFileSync(began, "utf8")), "SIGKILL");
  await hung;
  const pid = await pidOf(pool);
  // While it has nothing to do.
  process.kill(pid, "SIGKILL");
  await eventually(() => deaths.length === 3);
  assert.notEqual(await pidOf(pool), pid);
});

test("an aborted task ends with its child, and one that waits does not begin", LIMIT, async (t) => {
  const pool = poolOf(t);
  const began = join(folder(t), "began");
  const running = new AbortController();
  const waiting = new AbortController();
  const first = failsAs("aborted", pool.run("hang", { began }, { ...TIMEOUT, signal: running.signal }));
  const second = failsAs("aborted", pool.run("echo", "", { ...TIMEOUT, signal: waiting.signal }));
  const third = pidOf(pool);
  await eventually(() => existsSync(began));
  waiting.abort();
  await second;
  running.abort();
  await first;
  await third;
  await failsAs("aborted", pool.run("echo", "", { ...TIMEOUT, signal: AbortSignal.abort() }));
});

test(
  "only so many tasks wait, and what is stopped rejects them all without waiting for a task that hangs",
  LIMIT,
  async (t) => {
    const pool = poolOf(t, { maxWaiting: 1 });
    const began = join(folder(t), "began");
    const hung = failsAs("aborted", pool.run("hang", { began }, TIMEOUT), /the pool/);
    const waits = failsAs("aborted", pool.run("echo", "", TIMEOUT), /the pool/);
    await failsAs("busy", pool.run("echo", "", TIMEOUT), /1 tasks wait/);
    await eventually(() => existsSync(began));
    await pool.stop();
    await Promise.all([hung, waits]);
    await failsAs("aborted", pool.run("echo", "", TIMEOUT));
  },
);

test("tasks together have no more bytes than may be under way, and the largest runs by itself", LIMIT, async (t) => {
  const pool = poolOf(t, { size: 3, maxWaitingBytes: 100 });
  const place = folder(t);
  const began: number[] = [];
  const task = (n: number, bytes: number): Promise<unknown> => {
    const input = (): unknown => {
      began.push(n);
      return { path: join(place, String(n)) };
    };
    return pool.run("untilThere", input, { ...TIMEOUT, bytes });
  };
  const end = (n: number): void => writeFileSync(join(place, String(n)), "");
  const tasks = [task(1, 40), task(2, 60), task(3, 1), task(4, 1_000)];
  await eventually(() => began.length === 2);
  end(2);
  await tasks[1];
  await eventually(() => began.length === 3);
  end(1);
  await tasks[0];
  assert.deepEqual(began.toSorted(), [1, 2, 3]);
  end(3);
  await eventually(() => began.length === 4);
  end(4);
  await Promise.all(tasks);
});

test("children that cannot start fail the task, and are started ever more rarely", LIMIT, async (t) => {
  const pool = poolOf(t, { module: new URL("pool-without-tasks.ts", SUPPORT) });
  for (let n = 0; n < 3; n++) await failsAs("died", pool.run("echo", "", TIMEOUT), /code 3/);
  // The next one waits for its start: it is stopped before.
  const waits = failsAs("aborted", pool.run("echo", "", TIMEOUT));
  await pool.stop();
  await waits;
});

test("a child does not outlive its parent, though it is in a call that never ends", LIMIT, async (t) => {
  const began = join(folder(t), "began");
  const parent = fork(new URL("pool-parent.ts", SUPPORT), [began], { stdio: "ignore" });
  t.after(() => parent.kill("SIGKILL"));
  await eventually(() => existsSync(began) && readFileSync(began, "utf8") !== "");
  parent.kill("SIGKILL");
  await once(parent, "exit");
  await eventually(() => !isRunning(Number(readFileSync(began, "utf8"))));
});

test("a child without work ends", LIMIT, async (t) => {
  const pool = poolOf(t, { idleMs: 20 });
  const pid = await pidOf(pool);
  await eventually(() => !isRunning(pid));
  assert.notEqual(await pidOf(pool), pid);
});
