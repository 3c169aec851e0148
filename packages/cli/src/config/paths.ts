// Where the command keeps its files. Source: XDG Base Directory Specification.
import { homedir } from "node:os";
import { join } from "node:path";

/** The folder of contexts and credentials. */
export function configFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "moorage");
}

/** The folder of what may be lost: answers for completion, compiled code. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "moorage");
}
