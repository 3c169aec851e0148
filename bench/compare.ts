// npm run bench:compare -- ../before [--turns 3] [options of npm run bench]: the benchmarks of another clone of this
// repository and of this one in turns, and the ratios of each turn. Both need `npm ci`.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { comparison, type Run, turnsTable } from "./turns.ts";
import { say } from "./say.ts";

const RUN_TIMEOUT_MS = 3_600_000;
const USAGE = "usage: npm run bench:compare -- FOLDER_OF_ANOTHER_CLONE [--turns 3] [options of npm run bench]";

const HERE = resolve(import.meta.dirname, "..");
const [other, ...rest] = process.argv.slice(2);
if (other === undefined || other.startsWith("-")) throw new Error(USAGE);
const at = rest.indexOf("--turns");
const turns = at < 0 ? 3 : Number(rest[at + 1]);
if (!Number.isInteger(turns) || turns < 1) throw new Error("--turns: must be a whole number above 0");
const options = at < 0 ? rest : rest.toSpliced(at, 2);

/** One run of the benchmarks of a clone, with the Node that it brings. */
function runOf(folder: string): Run {
  const report = join(folder, "build/bench.json");
  rmSync(report, { force: true });
  const { status, stderr } = spawnSync("npm", ["run", "--silent", "bench", "--", ...options], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
    timeout: RUN_TIMEOUT_MS,
    // This process was started by npm, which names its own folder and binaries first.
    env: { ...process.env, PATH: withoutBinaries(process.env["PATH"] ?? ""), INIT_CWD: folder },
  });
  // The status is 1 where a row failed, too: then there is a report, the others count, and those that failed are named.
  if (!existsSync(report)) throw new Error(`the benchmarks of ${folder} ended with ${status}: ${stderr}`);
  return JSON.parse(readFileSync(report, "utf8")) as Run;
}

function withoutBinaries(path: string): string {
  return path
    .split(":")
    .filter((each) => !each.includes("node_modules"))
    .join(":");
}

const pairs: { before: Run; after: Run }[] = [];
for (let turn = 1; turn <= turns; turn++) {
  say(`turn ${turn} of ${turns}`);
  // Each goes first in turn, so that what changes over time favors neither.
  const isOtherFirst = turn % 2 === 1;
  const first = runOf(isOtherFirst ? resolve(other) : HERE);
  const second = runOf(isOtherFirst ? HERE : resolve(other));
  pairs.push(isOtherFirst ? { before: first, after: second } : { before: second, after: first });
}
process.stdout.write(`${turnsTable(comparison(pairs))}\n`);
