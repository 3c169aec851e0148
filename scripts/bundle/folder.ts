import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { fingerprintOf } from "./fingerprint.ts";

/** Older ones go: processes that run from one of these may still load parts of it. */
const KEPT = 8;

/**
 * The folder of the bundle of the sources as they are, which is made when there is none yet: below `build/bundles`, by
 * the fingerprint of the sources. A bundle is never changed, so that processes that run from it go on. It appears by a
 * rename: of several processes that make it side by side the first wins, and the others take its bundle. Throws when
 * the sources cannot be bundled.
 */
export async function bundleFolder(root = dirname(dirname(import.meta.dirname))): Promise<string> {
  const bundles = join(root, "build", "bundles");
  const folder = join(bundles, fingerprintOf(root));
  if (existsSync(folder)) {
    if (Date.now() - statSync(folder).mtimeMs > 60_000) utimesSync(folder, new Date(), new Date());
    return folder;
  }
  mkdirSync(bundles, { recursive: true });
  const made = mkdtempSync(join(bundles, "new-"));
  try {
    const { PROGRAMS, writeBundle } = await import("./programs.ts");
    await writeBundle(made, PROGRAMS);
    renameSync(made, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  removeOld(bundles);
  return folder;
}

function removeOld(bundles: string): void {
  const usedMs = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const all = globSync("*", { cwd: bundles }).map((name) => join(bundles, name));
  const old = all.toSorted((one, other) => usedMs(other) - usedMs(one)).slice(KEPT);
  for (const folder of old) rmSync(folder, { recursive: true, force: true });
}
