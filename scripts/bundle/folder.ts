import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { fingerprintOf } from "./fingerprint.ts";
import { takeLock } from "./lock.ts";

/** Older ones go: processes that run from one of these may still load parts of it. */
const KEPT = 12;

/** What was compiled longer ago is removed: most of it is of sources that have changed. */
const COMPILED_KEPT_MS = 24 * 3_600_000;

/**
 * The folder of the bundle of the sources as they are, which is made when there is none yet: below `build/bundles`, by
 * the fingerprint of the sources. A bundle is never changed, so that processes that run from it go on. It appears by a
 * rename, and of processes that need it at the same time one makes it while the others wait. `compiled`: a folder of
 * compiled code that Node keeps, from which old files are removed then. Throws when the sources cannot be bundled.
 */
export async function bundleFolder({
  root = dirname(dirname(import.meta.dirname)),
  compiled,
}: { root?: string; compiled?: string } = {}): Promise<string> {
  const bundles = join(root, "build", "bundles");
  const present = join(bundles, fingerprintOf(root));
  if (existsSync(present)) {
    if (Date.now() - statSync(present).mtimeMs > 60_000) utimesSync(present, new Date(), new Date());
    return present;
  }
  mkdirSync(bundles, { recursive: true });
  // Some sources are generated from others.
  const { makeIfStale } = await import("../gen/if-stale.ts");
  await makeIfStale(root);
  const folder = join(bundles, fingerprintOf(root));
  const release = await takeLock(`${folder}.lock`, () => existsSync(folder));
  try {
    if (!existsSync(folder)) await make(bundles, folder);
  } finally {
    release();
  }
  removeOld(bundles);
  if (compiled !== undefined) removeCompiled(compiled);
  return folder;
}

async function make(bundles: string, folder: string): Promise<void> {
  const made = mkdtempSync(join(bundles, "new-"));
  try {
    const { PROGRAMS, TEST_PROGRAMS, writeBundle } = await import("./programs.ts");
    await writeBundle(made, { ...PROGRAMS, ...TEST_PROGRAMS });
    renameSync(made, folder);
  } catch (error) {
    // A lock that was waited for too long does not keep two processes from making the same.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function removeOld(bundles: string): void {
  const all = globSync("*", { cwd: bundles }).map((name) => join(bundles, name));
  const old = all.toSorted((one, other) => changedMs(other) - changedMs(one)).slice(KEPT);
  for (const folder of old) rmSync(folder, { recursive: true, force: true });
}

function removeCompiled(folder: string): void {
  for (const file of globSync("*/*", { cwd: folder }).map((name) => join(folder, name)))
    if (Date.now() - changedMs(file) > COMPILED_KEPT_MS) rmSync(file, { recursive: true, force: true });
}

function changedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
