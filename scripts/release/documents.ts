// What is said of a release as a whole: notes, checksums, and how it was made.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { commandVersion } from "../bundle/one-file.ts";
import { ROOT } from "../bundle/programs.ts";
import { PINS } from "./inputs.ts";

/**
 * The section of the version in a changelog; without one the section of what is unreleased. Throws when there is none.
 */
export function notesFrom(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m);
  const found =
    sections.find((section) => section.startsWith(`## [${version}]`)) ??
    sections.find((section) => section.startsWith("## [Unreleased]"));
  if (found === undefined)
    throw new Error(`CHANGELOG.md has no section for ${version}, and none of what is unreleased`);
  return `# Moorage ${version}\n\n${found.slice(found.indexOf("\n") + 1).trim()}\n`;
}

/** Writes NOTES.md, then SHA256SUMS of all files that are there, then provenance.json about the same files. */
export function writeDocuments(folder: string): void {
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  writeFileSync(join(folder, "NOTES.md"), notesFrom(changelog, commandVersion()));
  const sums = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()
    .map((path) => ({ name: relative(folder, path), sha256: sha256Of(readFileSync(path)) }));
  writeFileSync(join(folder, "SHA256SUMS"), sums.map(({ sha256, name }) => `${sha256}  ${name}\n`).join(""));
  writeFileSync(join(folder, "provenance.json"), `${JSON.stringify(provenance(sums), null, 2)}\n`);
}

/** A statement about the files. Sources: in-toto, Statement v1; SLSA, Build Provenance v1. */
function provenance(files: readonly { name: string; sha256: string }[]): object {
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:moorage:npm-run-release:1",
        externalParameters: { version: commandVersion(), command: "npm run release" },
        internalParameters: { node: process.versions.node },
        resolvedDependencies: [
          ...commit(),
          { name: "package-lock.json", digest: { sha256: sha256Of(readFileSync(join(ROOT, "package-lock.json"))) } },
          ...Object.values(PINS.node.packages).map(({ name, integrity }) => ({
            uri: `pkg:npm/${name}@${PINS.node.version}`,
            digest: { sha512: Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex") },
          })),
          ...Object.entries(PINS.debian.packages).flatMap(([architecture, packages]) =>
            packages.map(({ name, version, sha256 }) => ({
              uri: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`,
              digest: { sha256 },
            })),
          ),
        ],
      },
      // Who ran it, and when, is said by whoever signs the statement.
      runDetails: { builder: { id: "urn:moorage:npm-run-release" } },
    },
  };
}

/** The commit, as far as the sources are those of one. */
function commit(): object[] {
  const git = (...args: string[]): string | undefined => {
    const { status, stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  };
  const [gitCommit, changed] = [git("rev-parse", "HEAD"), git("status", "--porcelain")];
  if (gitCommit === undefined) return [];
  return [{ name: "source", digest: { gitCommit }, annotations: { changedSince: changed !== "" } }];
}

function sha256Of(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
