import { createHash, type Hash, hash as hashOf } from "node:crypto";
import { Code, invalidArgument, MoorageError } from "../errors.ts";
import type { BlobStore, StoredBlob } from "./blob-store.ts";
import { copyFileInto } from "./content-file.ts";
import { algorithmOf } from "./hash-state.ts";

/** A store whose reads are not verified. One that does not adopt files stores copies of them. */
export type UnverifiedStore = Omit<BlobStore, "readAll" | "adopt"> & Partial<Pick<BlobStore, "adopt">>;

/** Content is not what its digest says. */
export function damaged(digest: string, how: string, cause?: unknown): MoorageError {
  return new MoorageError(Code.DataLoss, `Data loss: the stored content of ${digest} ${how}`, { cause });
}

/** Throws INVALID_ARGUMENT on `digest` unless the digest is that of the content, which may be hashed already. */
export function requireDigest(content: Buffer | Hash, digest: string): void {
  const isOf = Buffer.isBuffer(content)
    ? isRight(content, digest)
    : `${algorithmOf(digest)}:${content.digest("hex")}` === digest;
  if (!isOf) throw invalidArgument({ field: "digest", description: "is not the digest of the content" });
}

/** Verifies the digest of everything that is read whole. */
export function verified(store: UnverifiedStore): BlobStore {
  return {
    ...store,
    adopt: store.adopt ?? ((file, blob) => copyFileInto(store, file, blob)),
    async readWhole(digest, generation) {
      const content = await store.readWhole(digest, generation);
      if (isRight(content, digest)) return content;
      // What was spoiled on its way is right the next time.
      const again = await store.readWhole(digest, generation);
      if (isRight(again, digest)) return again;
      throw damaged(digest, "is not what its digest says");
    },
    readAll: (blob, sink) => readAll(store, blob, sink),
  };
}

function isRight(content: Buffer, digest: string): boolean {
  const algorithm = algorithmOf(digest);
  return `${algorithm}:${hashOf(algorithm, content, "hex")}` === digest;
}

async function readAll(
  store: Pick<BlobStore, "read" | "readWhole">,
  { digest, generation, size }: StoredBlob,
  sink: Parameters<BlobStore["readAll"]>[1],
): Promise<void> {
  const algorithm = algorithmOf(digest);
  const hash = createHash(algorithm);
  const verify = (): void => {
    if (`${algorithm}:${hash.digest("hex")}` !== digest) throw damaged(digest, "is not what its digest says");
  };
  if (size === 0) return verify();
  let bytes = 0;
  await store.read(digest, generation, { start: 0, end: size - 1 }, async (chunk) => {
    hash.update(chunk);
    bytes += chunk.length;
    // The last bytes are held back, so that a client that was promised so many sees that something is wrong.
    if (bytes === size) verify();
    await sink(chunk);
  });
}
