// What a release is made from beside this repository: binaries of Node and packages of Debian. Each is pinned by its
// checksum in pins.json, and kept in build/release-inputs.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bundle/programs.ts";
import { Missing } from "./missing.ts";

/** A processor, as each of those who name it does. */
export const ARCHITECTURES = [
  { node: "x64", oci: "amd64", gnu: "x86_64-linux-gnu" },
  { node: "arm64", oci: "arm64", gnu: "aarch64-linux-gnu" },
] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** A package of Debian. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
}

interface Pins {
  node: { version: string; packages: Record<string, { name: string; integrity: string }> };
  debian: { suite: string; packages: Record<string, DebianPackage[]> };
}

export const PINS = JSON.parse(readFileSync(join(import.meta.dirname, "pins.json"), "utf8")) as Pins;
const FETCH_LIMIT_MS = 300_000;
const inputs = join(ROOT, "build/release-inputs");

/**
 * The folder of Node's package for the processor, with `bin/node` and `LICENSE`. Throws Missing when it is not to be
 * had.
 */
export function nodePackage({ node }: Architecture): string {
  const { name, integrity } = PINS.node.packages[node] ?? { name: "", integrity: "" };
  const folder = join(inputs, `${name}-${PINS.node.version}`);
  if (existsSync(folder)) return join(folder, "package");
  inFolder((work) => {
    run("npm", ["pack", "--silent", "--pack-destination", work, `${name}@${PINS.node.version}`], `${name} of npm`);
    const [file = ""] = globSync("*.tgz", { cwd: work });
    const found = `sha512-${createHash("sha512")
      .update(readFileSync(join(work, file)))
      .digest("base64")}`;
    if (found !== integrity) throw new Error(`${file} is another one than scripts/release/pins.json names: ${found}`);
    const unpacked = join(work, "unpacked");
    mkdirSync(unpacked);
    run("tar", ["-xzf", join(work, file), "-C", unpacked], `unpacking ${file}`);
    renameSync(unpacked, folder);
  });
  return join(folder, "package");
}

/** The files of Debian's packages for the processor, by name. Throws Missing where they are not to be had. */
export function debianPackages({ oci }: Architecture): Map<DebianPackage, string> {
  const wanted = PINS.debian.packages[oci] ?? [];
  const fileOf = ({ name, sha256 }: DebianPackage): string => join(inputs, `${name}-${sha256.slice(0, 16)}.deb`);
  const missing = wanted.filter((one) => !existsSync(fileOf(one)));
  if (missing.length > 0)
    inFolder((work) => {
      const options = aptOptions(work, oci);
      run("apt-get", [...options, "-qq", "update"], "the lists of Debian's packages");
      for (const one of missing) {
        run("apt-get", [...options, "-qq", "download", `${one.name}=${one.version}`], `${one.name} of Debian`, work);
        const [file = ""] = globSync("*.deb", { cwd: work });
        const found = createHash("sha256")
          .update(readFileSync(join(work, file)))
          .digest("hex");
        if (found !== one.sha256)
          throw new Error(`${file} is another one than scripts/release/pins.json names: ${found}`);
        renameSync(join(work, file), fileOf(one));
      }
    });
  return new Map(wanted.map((one) => [one, fileOf(one)]));
}

/** Lists and packages of its own, so that neither the machine's packages nor its processor matter. */
function aptOptions(work: string, architecture: string): string[] {
  for (const folder of ["state/lists/partial", "cache/archives/partial"])
    mkdirSync(join(work, folder), { recursive: true });
  writeFileSync(join(work, "status"), "");
  const { suite } = PINS.debian;
  const signed = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]";
  writeFileSync(
    join(work, "sources.list"),
    `deb ${signed} http://deb.debian.org/debian ${suite} main\n` +
      `deb ${signed} http://deb.debian.org/debian-security ${suite}-security main\n`,
  );
  return Object.entries({
    "Dir::State": join(work, "state"),
    "Dir::State::status": join(work, "status"),
    "Dir::Cache": join(work, "cache"),
    "Dir::Etc::sourcelist": join(work, "sources.list"),
    "Dir::Etc::sourceparts": "-",
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "APT::Sandbox::User": "root",
  }).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
}

function inFolder(work: (folder: string) => void): void {
  mkdirSync(inputs, { recursive: true });
  const folder = mkdtempSync(join(inputs, "new-"));
  try {
    work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Runs a program that fetches. Throws Missing when it is not there, or fails. */
function run(program: string, args: readonly string[], what: string, cwd?: string): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: FETCH_LIMIT_MS, cwd });
  if (status === 0) return;
  const reason = (error?.message ?? stderr.trim().split("\n").at(-1) ?? "").slice(0, 200);
  throw new Missing(`${what} cannot be had here: ${reason}`);
}
