// The programs of this package that others run: where they are, and whether they are found.
import { accessSync, constants, lstatSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { programFile } from "../package-files.ts";

/** A program beside `moorage`. */
export type Program = "docker-credential-moorage" | "moorage-credential-kubelet" | "moorage-keyring";

/** The program of this name that the PATH finds. */
function onPath(name: string): string | undefined {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // None in this folder.
    }
  }
  return undefined;
}

/** Whether the PATH finds a program of this package by that name. */
export function isFound(program: Program, name: string = program): boolean {
  const found = onPath(name);
  return found !== undefined && realpathSync(found) === realpathSync(programFile(program));
}

/**
 * Makes a link to a program of this package and says so. One that is there stays. Throws an Error when something else
 * has that name.
 */
export function link(program: Program, folder: string, name: string, dryRun: boolean): void {
  const path = join(folder, name);
  const target = programFile(program, name);
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
    if (realpathOr(path) === realpathSync(target)) return console.log(`${path}: nothing to change`);
    throw new Error(`${path} is something else, and is left as it is`);
  }
  console.log(`${path}\n  + a link to ${target}`);
  if (dryRun) return;
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  symlinkSync(target, path);
}

function realpathOr(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // a link to nothing
  }
}
