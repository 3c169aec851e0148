// The command and what a server starts, from the bundle of the sources and from the sources themselves.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { bundleFolder } from "../../../scripts/bundle/folder.ts";
import { PROGRAMS, ROOT } from "../../../scripts/bundle/programs.ts";
import { BUNDLED_PACKAGES } from "../../../scripts/server-packages.ts";
import { processPool } from "../../kernel/src/lib/process-pool/index.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { HELPER, LAUNCHER, run, startServing, temporaryFolder, terminate } from "./commands.ts";

// The one that `npm test` has made, and that all processes of this test run from.
const BUNDLE = (process.env["MOORAGE_BUNDLE"] ??= await bundleFolder());

test("from the bundle and from the sources, programs print the same", async (t) => {
  const cwd = temporaryFolder(t);
  const bin = (name: string): string => join(dirname(LAUNCHER), `${name}.js`);
  for (const [program, ...args] of [
    [LAUNCHER, "--version"],
    [LAUNCHER, "--help"],
    [LAUNCHER, "serve", "--help"],
    [LAUNCHER, "nothing"],
    [LAUNCHER, "completion", "zsh"],
    [LAUNCHER, "__complete", "zsh", "--", "repos", "list", "--out"],
    [LAUNCHER, "token", "--data-dir", "data"],
    [HELPER, "version"],
    [bin("moorage-keyring"), "get"],
    [bin("moorage-credential-kubelet")],
  ] as [string, ...string[]][]) {
    const outcome = (bundle: string) => {
      const env = { MOORAGE_BUNDLE: bundle, XDG_CONFIG_HOME: cwd, PATH: cwd };
      return run("/bin/sh", ["-c", 'exec "$0" "$@" </dev/null', process.execPath, program, ...args], { cwd, env });
    };
    const [bundled, fromSources] = await Promise.all([outcome(BUNDLE), outcome("0")]);
    assert.deepEqual(bundled, fromSources, args.join(" "));
  }
});

/** The programs of child processes that answer tasks. */
const OF_POOLS = [
  "boot/large-process",
  "libraries/reading-child",
  "security/reading/reader-tasks",
  "trust/revocation/status-tasks",
  "trust/roots/tuf-tasks",
  "trust/verifying/verify-tasks",
];

test("each thread and process of a server starts from the bundle", async (t) => {
  const cwd = temporaryFolder(t);
  const server = await startServing(t, process.execPath, [LAUNCHER, "serve", "--port", "0", "--workers", "2"], { cwd });
  // It handles signals once both are ready.
  await eventually(() => server.output().includes("workers serve"), { instead: () => server.output() });
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
  assert.equal(await terminate(server), 0, server.output());
  for (const name of OF_POOLS) {
    const module = pathToFileURL(join(BUNDLE, `${name}.js`));
    const pool = processPool({ module, size: 1, maxHeapMiB: 256, idleMs: 0, maxWaiting: 1 });
    t.after(() => pool.stop());
    // The process has loaded its tasks, and this is not one of them.
    await assert.rejects(pool.run("none", {}, { timeoutMs: 60_000 }), /the pool has no task none/, name);
  }
  const started = ["main", "boot/cluster-worker", "runtime/sqlite-writer-thread", "lib/process-pool/entry"];
  const watch = "lib/process-pool/watchdog";
  const rest = Object.keys(PROGRAMS).filter((name) => ![...started, ...OF_POOLS, watch].includes(name));
  assert.deepEqual(rest, ["credential/main", "credential/kubelet-main", "credential/keyring-main"]);
});

test("the stack trace of an error in the bundled command names the source and its line", async () => {
  const thrower = "data:text/javascript,console.log=()=>{throw new Error('printed')}";
  const { stderr } = await run(process.execPath, ["--import", thrower, LAUNCHER, "--version"]);
  assert.match(stderr, /Error: printed[^]*\/packages\/cli\/src\/start\.ts:9:\d+/);
});

test("where nothing can bundle, the sources run", async (t) => {
  const folder = temporaryFolder(t);
  for (const path of ["bin", "src", "package.json"])
    cpSync(join(ROOT, "packages/cli", path), join(folder, "packages/cli", path), { recursive: true });
  for (const name of BUNDLED_PACKAGES.filter((each) => each !== "cli")) {
    mkdirSync(join(folder, "packages", name, "src"), { recursive: true });
    cpSync(join(ROOT, "packages", name, "package.json"), join(folder, "packages", name, "package.json"));
  }
  for (const path of ["scripts/bundle", "scripts/server-packages.ts"])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  cpSync(join(ROOT, "package-lock.json"), join(folder, "package-lock.json"));
  const launcher = join(folder, "packages/cli/bin/moorage.js");
  const { code, stdout, stderr } = await run(process.execPath, [launcher, "--version"], {
    env: { MOORAGE_BUNDLE: "" },
  });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  assert.equal(existsSync(join(folder, "build/bundles")), true, "it looked for a bundle");
});
