// `npm run release`: everything that a release is, in build/release, always the same bytes from the same commit. It
// publishes nothing: docs/releasing.md says who does that, and how. What cannot be made on this machine is printed in a
// line and stands in REPORT.txt; with --complete that is an error.
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { commandVersion } from "../bundle/one-file.ts";
import { ROOT } from "../bundle/programs.ts";
import { makeChart } from "./chart.ts";
import { writeDocuments } from "./documents.ts";
import { makeExecutables } from "./executables.ts";
import { makeImage } from "./image.ts";
import { Missing } from "./missing.ts";
import { writeSboms } from "./sboms.ts";
import { releaseTimeS } from "./time.ts";

const build = join(ROOT, "build");
const folder = join(build, "release");

rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
mkdirSync(folder, { recursive: true });
const lines: string[] = [];
const say = (line: string): void => {
  lines.push(line);
  console.log(line);
};

const env = { ...process.env, SOURCE_DATE_EPOCH: String(releaseTimeS()) };
const packed = spawnSync(process.execPath, [join(ROOT, "scripts/pack.ts")], { env, stdio: "inherit", cwd: ROOT });
if (packed.status !== 0) process.exit(1);
mkdirSync(join(folder, "npm"));
for (const path of globSync("*.tgz", { cwd: build }).toSorted())
  copyFileSync(join(build, path), join(folder, "npm", path));
say(
  `npm: ${globSync("npm/*.tgz", { cwd: folder })
    .map((path) => basename(path))
    .toSorted()
    .join(", ")}`,
);

cpSync(join(build, "command"), join(folder, "command"), {
  recursive: true,
  filter: (path) => !["state", "package.json"].includes(basename(path)),
});
say("command: one file for Node 22 or later, the credential programs, and the npm package that a server hands out");

const unmade = makeExecutables(join(folder, "command/moorage"), join(folder, "executables"));
for (const path of globSync("executables/moorage-*", { cwd: folder }).toSorted()) say(`${path}: made${triedOut(path)}`);
for (const line of unmade) say(line);

const packageFolder = join(build, "cli");
let isWithout = unmade.length > 0;
try {
  makeImage(packageFolder, join(folder, "image"));
  say("image: OCI layout for linux/amd64 and linux/arm64");
} catch (error) {
  if (!(error instanceof Missing)) throw error;
  rmSync(join(folder, "image"), { recursive: true, force: true });
  say(`image: NOT MADE: ${error.message}`);
  isWithout = true;
}
makeChart(join(folder, "chart"));
say("chart: OCI layout of the Helm chart");
await writeSboms(packageFolder, join(folder, "sbom"));
say(`sbom: ${globSync("sbom/*", { cwd: folder }).length} CycloneDX documents`);
// Before the checksums, which are of it, too.
writeFileSync(join(folder, "REPORT.txt"), `Moorage ${commandVersion()}\n${lines.map((line) => `${line}\n`).join("")}`);
writeDocuments(folder);
console.log(`build/release has ${commandVersion()}, with SHA256SUMS, provenance.json and NOTES.md`);
if (isWithout && process.argv.includes("--complete")) process.exit(1);

/** Whether the executable runs; one for another processor cannot be tried here. */
function triedOut(path: string): string {
  if (!path.endsWith(`-${process.platform}-${process.arch}`)) return ", NOT RUN: it is for another processor";
  const { status, stdout, stderr } = spawnSync(join(folder, path), ["--version"], { encoding: "utf8" });
  if (status !== 0 || stdout !== `${commandVersion()}\n`) throw new Error(`${path} does not run: ${stderr}`);
  return ", and it runs";
}
