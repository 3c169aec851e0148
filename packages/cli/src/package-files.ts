// Files of this package that commands need. In the one file there is no package: one-file/package-files.ts is there
// then.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The text of a file of the folder `completions`. */
export function completionScript(file: string): string {
  return readFileSync(new URL(`../completions/${file}`, import.meta.url), "utf8");
}

/** The path of a program of this package, whatever name it is called by. */
export function programFile(program: string, _name?: string): string {
  return fileURLToPath(new URL(`../bin/${program}.js`, import.meta.url));
}
