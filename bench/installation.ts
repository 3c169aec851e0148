import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
// Half a minute on a quiet machine.
const PACK_TIMEOUT_MS = 600_000;

/** The launcher of the repository, which runs a bundle of the sources. */
export const SOURCES = join(ROOT, "packages/cli/bin/moorage.js");

/**
 * Packs Moorage and installs the package below the folder in the layout of `npm install`, to measure what users run.
 * Returns the launcher's path.
 */
export function installMoorage(folder: string): string {
  run("npm", ["run", "--silent", "pack"]);
  rmSync(folder, { recursive: true, force: true });
  const { version } = JSON.parse(readFileSync(join(ROOT, "packages/cli/package.json"), "utf8")) as { version: string };
  const place = join(folder, "node_modules/moorage");
  mkdirSync(place, { recursive: true });
  run("tar", ["-xzf", join(ROOT, "build", `moorage-${version}.tgz`), "--strip-components=1", "-C", place]);
  return join(place, "bin/moorage.js");
}

function run(program: string, args: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: ROOT,
    encoding: "utf8",
    timeout: PACK_TIMEOUT_MS,
  });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}${stdout}`.slice(0, 2_000));
}
