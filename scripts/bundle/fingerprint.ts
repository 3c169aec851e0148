import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** What a bundle is made of, and by: folders and files below the root of the repository. */
const INPUTS = ["api", "server", "cli"]
  .flatMap((name) => [`packages/${name}/src`, `packages/${name}/package.json`])
  .concat("scripts/bundle", "package-lock.json");

/**
 * The state of the sources, as a short text that names a folder: another one as soon as a source is written, added or
 * removed. It reads no file, only when each was changed and its size, which takes some milliseconds.
 */
export function fingerprintOf(root: string): string {
  const hash = createHash("sha256").update(process.versions.node);
  for (const input of INPUTS) addTo(hash, join(root, input));
  return hash.digest("hex").slice(0, 16);
}

function addTo(hash: ReturnType<typeof createHash>, path: string): void {
  const { mtimeMs, size } = statSync(path);
  if (path.endsWith(".ts") || path.endsWith(".json")) hash.update(`${path} ${mtimeMs} ${size}\n`);
  else
    for (const entry of readdirSync(path).toSorted()) if (!entry.endsWith(".test.ts")) addTo(hash, join(path, entry));
}
