// The files below a registry's folder. Whoever pushes to that registry chose many of their names, and its user may put
// anything there: so links are not followed, and nothing is read without a limit.
import { constants } from "node:fs";
import { open, opendir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@moorage/kernel/lib/error-code";
import { SourceError } from "./source-error.ts";

/** A name in a folder. */
interface Entry {
  name: string;
  kind: "folder" | "link" | "other";
}

/** A file that was read. */
interface ReadFile {
  content: Buffer;
  modifiedMs: number;
}

/** Reads below a folder; paths are relative to it. Everything throws a SourceError. */
export interface FolderFiles {
  /** Its real path. */
  root: string;
  /** The names in a folder; none when it is not there. */
  list(path: string): AsyncGenerator<Entry>;
  /** A whole file, of at most so many bytes; undefined when it is not there. */
  read(path: string, maxBytes: number): Promise<ReadFile | undefined>;
  /** The size of a file in bytes; undefined when it is not there. */
  size(path: string): Promise<number | undefined>;
}

const MAX_ENTRIES = 1_000_000;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const GONE: readonly unknown[] = ["ENOENT", "ENOTDIR"];

// Where the folder of a registry is below the folders that people know: of distribution, Harbor, and GitLab.
const BELOW = ["", "docker/registry/v2", "registry/docker/registry/v2", "shared/registry/docker/registry/v2"];

/**
 * Finds the folder with `blobs` and `repositories` at or below the path. Throws a SourceError when it is not there, or
 * cannot be read.
 */
export async function openFolderFiles(path: string): Promise<FolderFiles> {
  for (const below of BELOW) {
    const root = await realpath(join(path, below)).catch(() => undefined);
    const parts = root === undefined ? [] : [join(root, "blobs"), join(root, "repositories")];
    const found = await Promise.all(parts.map((part) => stat(part).catch(() => undefined)));
    if (root !== undefined && found.every((part) => part?.isDirectory() === true)) return filesBelow(root);
  }
  throw new SourceError(
    `${path}: is not the folder of a registry: no docker/registry/v2 with blobs and repositories is below it`,
  );
}

function filesBelow(root: string): FolderFiles {
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
