import { createHash, type Hash, hash as hashOf } from "node:crypto";
import { Code, invalidArgument, MoorageError } from "../errors.ts";
import type { AdoptedBlob, BlobStore, ContentObject, StoredBlob } from "./blob-store.ts";
import { copyFileInto } from "./content-file.ts";
import { copyObjectInto } from "./content-object.ts";
import { algorithmOf } from "./hash-state.ts";

type Adopt<Place> = (place: Place, blob: { digest: string; size: number }) => Promise<AdoptedBlob>;

/** A store whose reads are not verified. One that does not adopt files or objects stores copies of them. */
export type UnverifiedStore = Omit<BlobStore, "readAll" | "adopt"> & {
  adoptFile?: Adopt<string>;
  adoptObject?: Adopt<ContentObject>;
};

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
export function verified({ adoptFile, adoptObject, ...store }: UnverifiedStore): BlobStore {
  const ofFile = adoptFile ?? ((file, blob) => copyFileInto(store, file, blob));
  const ofObject = adoptObject ?? ((object, blob) => copyObjectInto(store, object, blob));
  return {
    ...store,
    adopt: (place, blob) => (typeof place === "string" ? ofFile(place, blob) : ofObject(place, blob)),
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
