import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { BUNDLED_PACKAGES } from "../server-packages.ts";

/** What a bundle is made of, and by: folders and files below the root of the repository. */
const FOLDERS = [...BUNDLED_PACKAGES.map((name) => `packages/${name}/src`), "scripts/bundle"];
const FILES = [
  ...BUNDLED_PACKAGES.map((name) => `packages/${name}/package.json`),
  "package-lock.json",
  "scripts/server-packages.ts",
];

/** Programs of tests that are bundled with the others, each with its source, where that is there. */
export const TEST_SOURCES = { "test/server-process": "packages/server/test/support/server-process.ts" };

/**
 * The state of the sources, as a short text that names a folder: another one as soon as a source is written, added or
 * removed. It reads no file, only when each was changed and its size, which takes some milliseconds.
 */
export function fingerprintOf(root: string): string {
  const hash = createHash("sha256").update(`${process.versions.node} ${root}\n`);
  for (const file of FILES) hash.update(stateOf(root, file));
  for (const file of Object.values(TEST_SOURCES)) if (existsSync(`${root}/${file}`)) hash.update(stateOf(root, file));
  for (const folder of FOLDERS) hash.update(statesIn(root, folder));
  return hash.digest("hex").slice(0, 16);
}

function statesIn(root: string, folder: string): string {
  let states = "";
  for (const entry of readdirSync(`${root}/${folder}`, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) states += statesIn(root, path);
    else if (!path.endsWith(".test.ts")) states += stateOf(root, path);
  }
  return states;
}

function stateOf(root: string, path: string): string {
  const { mtimeMs, size } = statSync(`${root}/${path}`);
  return `${path} ${mtimeMs} ${size}\n`;
}
