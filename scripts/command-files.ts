// Makes the files of the command that a server hands out at /cli, in build/command. With --if-stale only when a source
// is newer than what was made: npm start runs it so. A packed server has them beside it (scripts/pack.ts).
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { commandVersion, ONE_FILES, oneFileOf } from "./bundle/one-file.ts";
import { fingerprintOf } from "./bundle/fingerprint.ts";
import { takeLock } from "./bundle/lock.ts";
import { ROOT } from "./bundle/programs.ts";
import { makeIfStale } from "./gen/if-stale.ts";
import { clientManifest, clientPackage } from "./release/client-package.ts";

const build = join(ROOT, "build");
const folder = join(build, "command");
await makeIfStale();
const state = stateOfSources();

mkdirSync(build, { recursive: true });
const isForced = !process.argv.includes("--if-stale");
if (isForced || isStale()) {
  const release = await takeLock(`${folder}.lock`, () => !isForced && !isStale());
  try {
    if (isForced || isStale()) await make();
  } finally {
    release();
  }
}

function isStale(): boolean {
  const made = join(folder, "state");
  return !existsSync(made) || readFileSync(made, "utf8") !== state;
}

/** Another text as soon as something has changed that goes into the files. */
function stateOfSources(): string {
  const others = globSync(["packages/cli/completions/*", "scripts/release/*.ts", "README.md"], {
    cwd: ROOT,
  }).toSorted();
  return [fingerprintOf(ROOT), ...others.map((path) => `${path} ${statSync(join(ROOT, path)).mtimeMs}`)].join("\n");
}

/** Makes all files in another folder first: a server that runs hands out the old ones or the new ones. */
async function make(): Promise<void> {
  const made = mkdtempSync(join(build, "command-"));
  try {
    const programs: Record<string, string> = {};
    for (const name of Object.keys(ONE_FILES)) {
      const { text } = await oneFileOf(name as keyof typeof ONE_FILES);
      programs[name] = text;
      writeFileSync(join(made, name), text, { mode: 0o755 });
    }
    writeFileSync(join(made, "moorage.tgz"), clientPackage(programs));
    writeFileSync(join(made, "package.json"), `${JSON.stringify(clientManifest(), null, 2)}\n`);
    writeFileSync(join(made, "version"), `${commandVersion()}\n`);
    writeFileSync(join(made, "state"), state);
    // Those who run a packed server are not those who packed it.
    chmodSync(made, 0o755);
    rmSync(folder, { recursive: true, force: true });
    renameSync(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
