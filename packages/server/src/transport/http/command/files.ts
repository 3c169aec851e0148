// The files of the command that this server hands out, and what is to be said of each.
import { createHash } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Stats } from "node:fs";

/** Those that any system with Node runs; scripts/command-files.ts makes them, `moorage` last. */
export const SCRIPTS = [
  "moorage",
  "docker-credential-moorage",
  "moorage-credential-kubelet",
  "moorage-keyring",
] as const;
/** Those that need no Node; `npm run release` makes them. */
export const EXECUTABLES = ["moorage-linux-x64", "moorage-linux-arm64"] as const;
/** The npm package with the scripts. */
export const PACKAGE = "moorage.tgz";

/** A file, opened. Whoever gets it closes it. */
export interface OpenFile {
  handle: FileHandle;
  size: number;
  /** In hexadecimal digits. */
  sha256: string;
  /** As npm writes it: `sha512-` and base64. */
  integrity: string;
}

/** What there is. Names are those of the lists above; all others lead nowhere. */
export interface CommandFiles {
  /** Opens the file; undefined when there is none. Throws when it cannot be read. */
  open(name: string): Promise<OpenFile | undefined>;
  /** The version that the file is said to be of; undefined when nothing says it. */
  version(name: string): Promise<string | undefined>;
  /** The manifest of the npm package; undefined when there is none. */
  manifest(): Promise<Readonly<Record<string, unknown>> | undefined>;
}

const VERSION = /^[0-9A-Za-z.+-]{1,64}$/;

/**
 * The files of these folders. `built` has the scripts and the package, beside this module in a packed server;
 * `executables` is the folder that an operator named, or empty.
 */
export function commandFiles({
  executables,
  built = builtFolder(),
}: {
  executables: string;
  built?: string;
}): CommandFiles {
  const sums = new Map<string, { state: string; sums: Promise<Pick<OpenFile, "sha256" | "integrity">> }>();
  const folderOf = (name: string): string | undefined => {
    if (SCRIPTS.some((one) => one === name) || name === PACKAGE) return built;
    return EXECUTABLES.some((one) => one === name) && executables !== "" ? executables : undefined;
  };
  /** Reads a file once for each state of it: to hash an executable takes a part of a second. */
  const sumsOf = (name: string, handle: FileHandle, stats: Stats): Promise<Pick<OpenFile, "sha256" | "integrity">> => {
    const state = `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
    const known = sums.get(name);
    if (known?.state === state) return known.sums;
    const found = hashed(handle, stats.size);
    sums.set(name, { state, sums: found });
    // What could not be read is read again the next time.
    found.catch(() => sums.delete(name));
    return found;
  };
  return {
    async open(name) {
      const folder = folderOf(name);
      const handle = folder === undefined ? undefined : await opened(join(folder, name));
      if (handle === undefined) return undefined;
      try {
        const stats = await handle.stat();
        if (stats.isFile() && stats.size > 0)
          return { handle, size: stats.size, ...(await sumsOf(name, handle, stats)) };
      } catch (error) {
        await handle.close();
        throw error;
      }
      await handle.close();
      return undefined;
    },
    async version(name) {
      const folder = folderOf(name);
      const text = folder === undefined ? undefined : await textOf(join(folder, "version"));
      return text !== undefined && VERSION.test(text.trim().slice(0, 65)) ? text.trim() : undefined;
    },
    async manifest() {
      const text = await textOf(join(built, "package.json"));
      return text === undefined ? undefined : (JSON.parse(text) as Record<string, unknown>);
    },
  };
}

/** A packed server has the files beside this one (scripts/pack.ts); a clone has them below its folder `build`. */
function builtFolder(): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(new URL(isSource ? "../../../../../../build/command" : "./built", import.meta.url));
}

async function opened(path: string): Promise<FileHandle | undefined> {
  return await open(path).catch(undefinedIfMissing);
}

async function textOf(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").catch(undefinedIfMissing);
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
  throw error;
}

async function hashed(handle: FileHandle, size: number): Promise<Pick<OpenFile, "sha256" | "integrity">> {
  const [sha256, sha512] = [createHash("sha256"), createHash("sha512")];
  for await (const chunk of readPart(handle, { start: 0, end: size - 1 })) {
    sha256.update(chunk);
    sha512.update(chunk);
  }
  return { sha256: sha256.digest("hex"), integrity: `sha512-${sha512.digest("base64")}` };
}

/** The bytes of a part of the file, `end` included. The file stays open. Throws when the file has become shorter. */
export async function* readPart(
  handle: FileHandle,
  { start, end }: { start: number; end: number },
): AsyncGenerator<Buffer> {
  const CHUNK_BYTES = 256 * 1024;
  for (let position = start; position <= end;) {
    const length = Math.min(CHUNK_BYTES, end - position + 1);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) throw new Error("the file has become shorter while it was read");
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}
