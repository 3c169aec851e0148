import { realpathSync } from "node:fs";
import { basename } from "node:path";

/** The programs that the one file is by other names than `moorage`, each with those names. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "docker-credential-moorage": ["docker-credential-moorage"],
  "moorage-credential-kubelet": ["moorage-credential-kubelet"],
  // pip and uv look for the second.
  "moorage-keyring": ["moorage-keyring", "keyring"],
};

/** The path of the one file itself, or of the executable that it is in. */
export function calledFile(): string {
  return realpathSync(process.argv[1] ?? process.execPath);
}

/** The program that the file is by the name that it was called by: that of a link, where there is one. */
export function calledProgram(): string {
  // An executable has its own path in process.argv, with all links followed.
  const path = process.argv[1] === process.execPath ? process.argv0 : (process.argv[1] ?? "");
  const name = basename(path).replace(/\.(?:exe|cjs|js)$/i, "");
  return Object.keys(NAMES).find((program) => isCalled(program, name)) ?? "moorage";
}

/** Whether the file is that program when it is called by that name. */
export function isCalled(program: string, name: string): boolean {
  return NAMES[program]?.includes(name) === true;
}
