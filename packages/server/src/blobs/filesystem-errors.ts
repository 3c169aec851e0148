import { Code, MoorageError, notFound } from "../errors.ts";
import { errorCode } from "../lib/error-code.ts";

/** Runs the work and translates its errors; a missing file is NOT_FOUND of that type and name. */
export async function withFilesystemErrors<T>(type: string, name: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translated(error, type, name);
  }
}

function translated(error: unknown, type: string, name: string): unknown {
  const code = errorCode(error);
  if (code === "ENOENT") return notFound(type, name);
  if (code === "EEXIST") return new MoorageError(Code.AlreadyExists, "Upload exists already");
  if (code === "ENOSPC" || code === "EDQUOT")
    return new MoorageError(Code.ResourceExhausted, "Storage is full", { cause: error, retryAfterMs: 60_000 });
  return error;
}
