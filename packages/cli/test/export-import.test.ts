import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { LAUNCHER, moorage, type Outcome, startServing, temporaryFolder, terminate } from "./commands.ts";
import { eventually } from "../../server/test/support/eventually.ts";

/** Asserts one line on standard error, and exit code 1. */
function failed({ code, stderr, stdout }: Outcome, expected: RegExp): void {
  assert.equal(code, 1, stderr);
  assert.match(stderr, expected);
  assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
  assert.equal(stdout, "");
}

async function succeeded(outcome: Promise<Outcome>, expected: RegExp): Promise<void> {
  const { code, stdout, stderr } = await outcome;
  assert.equal(code, 0, stderr);
  assert.match(stdout, expected);
}

/** A folder with the data of a server that has ended, with the sample image pushed. */
async function used(t: TestContext): Promise<string> {
  const cwd = temporaryFolder(t);
  const server = await startServing(t, process.execPath, [LAUNCHER, "serve", "--port", "0"], { cwd });
  const { code, stderr } = await moorage(["sample", "--push", `${server.url}/acme/hello:latest`], { cwd });
  assert.equal(code, 0, stderr);
  await terminate(server);
  return cwd;
}

test("migrate prints the versions, and its check ends with 1 when there is something to do", async (t) => {
  const cwd = temporaryFolder(t);
  const check = await moorage(["migrate", "--check"], { cwd });
  assert.equal(check.code, 1);
  assert.match(check.stdout, /^database: version 0; this moorage: version \d+\n$/);
  await succeeded(moorage(["migrate"], { cwd }), /was 0; this moorage/);
  await succeeded(moorage(["migrate", "--check"], { cwd }), /^database: version (\d+); this moorage: version \1\n$/);
  // As after a start of an older version: what is left to do has names.
  const database = new DatabaseSync(join(cwd, "data/moorage.db"));
  const { user_version: newest } = database.prepare("pragma user_version").get() as { user_version: number };
  database.exec(`pragma user_version = ${newest - 2}`);
  database.close();
  const behind = await moorage(["migrate", "--check"], { cwd });
  assert.equal(behind.code, 1);
  assert.match(behind.stdout, new RegExp(`^database: .*\nto do: ${newest - 1}, .+\nto do: ${newest}, .+\n$`));
});

test(
  "an installation is exported, imported, backed up, restored and checked by commands",
  { timeout: 300_000 },
  async (t) => {
    const cwd = await used(t);
    const run = (...args: string[]): Promise<Outcome> => moorage(args, { cwd });
    await succeeded(
      run("export", "out"),
      /^exported \d+ rows of \d+ tables and [1-9]\d* blobs \([\d.]+ \w+\) to out\n$/,
    );
    await succeeded(run("import", "out", "--data-dir", "second"), /^imported \d+ rows and [1-9]\d* blobs/);
    await succeeded(run("fsck", "--data-dir", "second", "--deep"), /^clean: /);
    await succeeded(run("backup", "copy", "--data-dir", "second"), /^backed up the database and [1-9]\d* blobs/);
    await succeeded(run("restore", "copy", "--data-dir", "third", "--verify"), /^restored the database and/);
    const server = await startServing(t, process.execPath, [LAUNCHER, "serve", "--port", "0", "--data-dir", "third"], {
      cwd,
    });
    const { stdout: token } = await moorage(["token", "--audience", "registry", "--data-dir", "third"], { cwd });
    const answer = await fetch(`${server.url}/v2/acme/hello/tags/list`, {
      headers: { authorization: `Bearer ${token.trim()}` },
    });
    assert.deepEqual(await answer.json(), { name: "acme/hello", tags: ["latest"] });
    await terminate(server);
    failed(await run("import", "out", "--data-dir", "third"), /import into an empty/);
    failed(await run("import", "nothing", "--data-dir", "fourth"), /there is no export/);
    failed(await run("export", "copy"), /not empty/);
    failed(await run("backup", "out"), /not empty/);
    failed(await run("backup", "b", "--database-url", "postgres://localhost/x"), /pg_dump/);
    failed(await run("restore", "out", "--data-dir", "fourth"), /no whole backup/);
    failed(await run("export", "e", "--data-dir", "nowhere"), /no installation/);
    failed(await run("fsck", "--database-url", "nonsense"), /MOORAGE_DATABASE_URL/);
  },
);

test(
  "fsck prints what it found as text and as JSON, and ends with 1 until it is repaired",
  { timeout: 300_000 },
  async (t) => {
    const cwd = await used(t);
    const database = new DatabaseSync(join(cwd, "data", "moorage.db"));
    database.exec("update counters set n = n + 1");
    database.close();
    const found = await moorage(["fsck"], { cwd });
    assert.equal(found.code, 1);
    assert.match(found.stdout, /^counter-wrong: \d+: .*\n {4}\w/);
    assert.match(found.stdout, /\nnot clean: \d+ rows and \d+ blobs looked at\n$/);
    const json = await moorage(["fsck", "--json"], { cwd });
    assert.equal(json.code, 1);
    const { clean, findings } = JSON.parse(json.stdout) as {
      clean: boolean;
      findings: { kind: string; count: number }[];
    };
    assert.deepEqual([clean, findings.map(({ kind }) => kind)], [false, ["counter-wrong"]]);
    await succeeded(moorage(["fsck", "--repair"], { cwd }), /^counter-wrong: \d+, mended: [\s\S]*\nclean: /);
    await succeeded(moorage(["fsck"], { cwd }), /^clean: /);
  },
);

test(
  "an interrupted export says how to continue, and continues",
  { timeout: 300_000, skip: process.platform === "win32" && "there are no such signals" },
  async (t) => {
    const cwd = await used(t);
    mkdirSync(join(cwd, "out"));
    const child = spawn(process.execPath, [LAUNCHER, "export", "out"], { cwd, stdio: ["ignore", "ignore", "pipe"] });
    const exited = once(child, "exit");
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    // Its first folder shows that the export has begun.
    await eventually(() => child.exitCode !== null || readdirSync(join(cwd, "out")).length > 0);
    child.kill("SIGINT");
    const [code] = (await exited) as [number];
    // The export may have finished before the signal arrived.
    assert.ok(code === 0 || (code === 130 && said.endsWith("stopped: run the same command again to go on\n")), said);
    await succeeded(moorage(["export", "out"], { cwd }), /^exported/);
    assert.deepEqual(readdirSync(join(cwd, "out")).sort(), ["blobs", "export.json", "secret.key", "tables"]);
    rmSync(join(cwd, "data"), { recursive: true });
    await succeeded(moorage(["import", "out"], { cwd }), /^imported/);
  },
);
