import { existsSync } from "node:fs";
import { Code, MoorageError, notFound } from "../errors.ts";
import { errorCode } from "../lib/error-code.ts";
import { fileFault, storageFault } from "../lib/storage-fault.ts";
import type { FilesystemLayout } from "./filesystem-layout.ts";

/** Runs the work and translates its errors: a missing file is NOT_FOUND of that type and name. */
export type WithFilesystemErrors = <T>(type: string, name: string, work: () => T | Promise<T>) => Promise<T>;

/** Translates errors of the files of a layout. A missing file in a folder that is missing itself is a fault. */
export function filesystemErrors(layout: FilesystemLayout): WithFilesystemErrors {
  const isGone = (): boolean => ![layout.uploads, layout.blobs("sha256")].every((folder) => existsSync(folder));
  return async (type, name, work) => {
    try {
      return await work();
    } catch (error) {
      throw translated(error, type, name, isGone);
    }
  };
}

function translated(error: unknown, type: string, name: string, isGone: () => boolean): unknown {
  const code = errorCode(error);
  if (code === "ENOENT")
    return isGone() ? storageFault({ part: "blobs", reason: "missing" }, error) : notFound(type, name);
  if (code === "EEXIST") return new MoorageError(Code.AlreadyExists, "Upload exists already");
  const reason = fileFault(error);
  return reason === undefined ? error : storageFault({ part: "blobs", reason }, error);
}
