// Builds packages/console into its folder dist. With --if-stale only when a source is newer than what was built: npm
// start and the tests of the console run it so.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { makeIfStale } from "./gen/if-stale.ts";

const root = dirname(import.meta.dirname);
const folder = join(root, "packages/console");
const dist = join(folder, "dist");
const SOURCES = ["src", "public", "index.html", "vite.config.ts", "package.json"];
// What is compressed already stays as it is.
const TEXT = new Set([".html", ".js", ".css", ".svg"]);
const BUILD_TIMEOUT_MS = 120_000;
const LOCK_WAIT_MS = 200;

const lock = join(folder, "dist.lock");
const isForced = !process.argv.includes("--if-stale");
await makeIfStale();
if (isForced || isStale()) {
  takeLock();
  try {
    // Another process may have built it meanwhile.
    if (isForced || isStale()) build();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** Waits until no other process builds. A lock that is older than a build may take was left by a process that ended. */
function takeLock(): void {
  for (;;) {
    try {
      return mkdirSync(lock);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const madeMs = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - madeMs > 2 * BUILD_TIMEOUT_MS) rmSync(lock, { recursive: true, force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_WAIT_MS);
  }
}

function isStale(): boolean {
  const built = statSync(join(dist, "compressed"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return SOURCES.flatMap((name) => filesOf(join(folder, name))).some((file) => statSync(file).mtimeMs > built);
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function build(): void {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn"],
    { cwd: folder, encoding: "utf8", timeout: BUILD_TIMEOUT_MS },
  );
  if (status !== 0) {
    console.error(`the console could not be built:\n${stdout}${stderr}`);
    process.exit(1);
  }
  for (const file of filesOf(dist)) if (TEXT.has(extname(file))) compress(file);
  // Last: a build that was interrupted is done again.
  writeFileSync(join(dist, "compressed"), "");
}

/** Writes the file's gzip and Brotli forms beside it, which the server sends to browsers that take them. */
function compress(file: string): void {
  const content = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
}
