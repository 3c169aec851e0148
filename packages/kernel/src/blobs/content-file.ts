import { constants, fstatSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { invalidArgument, type MoorageError } from "../errors.ts";
import { errorCode } from "../lib/error-code.ts";
import type { AdoptedBlob, BlobStore, ByteSource } from "./blob-store.ts";

// A link that leads elsewhere is not followed, and whoever waits for the other end of a pipe waits for nobody.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const READ_BYTES = 256 * 1024;

/** A file that is to become a blob, opened. */
export interface ContentFile extends AsyncDisposable {
  path: string;
  file: FileHandle;
  digest: string;
  size: number;
}

/** Opens a file that is to become a blob. Throws INVALID_ARGUMENT on `file` when it is none, or has another size. */
export async function openContentFile(
  path: string,
  { digest, size }: { digest: string; size: number },
): Promise<ContentFile> {
  const file = await open(path, READ).catch((error: unknown) => {
    throw unusable(`cannot be opened (${errorCode(error) ?? "unknown"})`);
  });
  const opened = { path, file, digest, size, [Symbol.asyncDispose]: () => file.close() };
  const found = fstatSync(file.fd);
  if (found.isFile() && found.size === size) return opened;
  await file.close();
  throw unusable(found.isFile() ? `has ${found.size} bytes, and should have ${size}` : "is no file");
}

/** Stores a copy of the file. Throws as `BlobStore.adopt`. */
export async function copyFileInto(
  store: Pick<BlobStore, "store">,
  path: string,
  blob: { digest: string; size: number },
): Promise<AdoptedBlob> {
  await using source = await openContentFile(path, blob);
  return { ...(await store.store(bytesOf(source), blob.digest, { length: blob.size })), how: "copy" };
}

/** As many bytes as there should be, and no more. Throws INVALID_ARGUMENT on `file` when there are fewer. */
async function* bytesOf({ file, size }: ContentFile): ByteSource {
  for (let at = 0; at < size;) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, size - at));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) throw unusable("became shorter while it was read");
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

/** The error of a file that cannot become a blob. */
export function unusable(description: string): MoorageError {
  return invalidArgument({ field: "file", description });
}
