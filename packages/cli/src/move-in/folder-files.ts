// The files below a registry's folder on this machine. Whoever may write there may put anything there: so links are not
// followed.
import { constants } from "node:fs";
import { open, opendir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@moorage/kernel/lib/error-code";
import { BELOW, MAX_ENTRIES, noRegistry, type RegistryFiles } from "./registry-files.ts";
import { SourceError } from "./source-error.ts";

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const GONE: readonly unknown[] = ["ENOENT", "ENOTDIR"];

/** As `openRegistryFiles`, of a path. */
export async function openFolderFiles(path: string): Promise<RegistryFiles> {
  for (const below of BELOW) {
    const root = await realpath(join(path, below)).catch(() => undefined);
    const parts = root === undefined ? [] : [join(root, "blobs"), join(root, "repositories")];
    const found = await Promise.all(parts.map((part) => stat(part).catch(() => undefined)));
    if (root !== undefined && found.every((part) => part?.isDirectory() === true)) return filesBelow(root);
  }
  throw noRegistry(path);
}

function filesBelow(root: string): RegistryFiles {
  /** The path, when it is really there. */
  const real = async (path: string): Promise<string | undefined> => {
    const full = join(root, path);
    const there = await here(path, realpath(full));
    if (there === undefined || there === full) return there;
    throw new SourceError(`${path} leads elsewhere by a symbolic link, which is not followed`);
  };
  return {
    root,
    async *list(path) {
      const full = await real(path);
      const folder = full === undefined ? undefined : await here(path, opendir(full));
      if (folder === undefined) return;
      let count = 0;
      try {
        for await (const entry of folder) {
          if ((count += 1) > MAX_ENTRIES) throw new SourceError(`${path} has more than ${MAX_ENTRIES} names`);
          yield {
            name: entry.name,
            kind: entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : "other",
          };
        }
      } catch (error) {
        throw error instanceof SourceError ? error : unreadable(path, error);
      }
    },
    async read(path, maxBytes) {
      const full = await real(path);
      const file = full === undefined ? undefined : await here(path, open(full, READ));
      if (file === undefined) return undefined;
      try {
        const found = await file.stat();
        if (!found.isFile()) throw new SourceError(`${path} is no file`);
        const { bytesRead, buffer } = await file.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0);
        if (bytesRead > maxBytes) throw new SourceError(`${path} has more than ${maxBytes} bytes`);
        return { content: buffer.subarray(0, bytesRead), modifiedMs: found.mtimeMs };
      } catch (error) {
        throw error instanceof SourceError ? error : unreadable(path, error);
      } finally {
        await file.close();
      }
    },
    async size(path) {
      const full = await real(path);
      const found = full === undefined ? undefined : await here(path, stat(full));
      if (found !== undefined && !found.isFile()) throw new SourceError(`${path} is no file`);
      return found?.size;
    },
    place: (path) => join(root, path),
  };
}

/** What is there; undefined for nothing. */
async function here<T>(path: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (GONE.includes(errorCode(error))) return undefined;
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): SourceError {
  const code = errorCode(error);
  return new SourceError(`${path} cannot be read: ${typeof code === "string" ? code : String(error)}`);
}
