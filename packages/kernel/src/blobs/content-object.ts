import type { AdoptedBlob, BlobStore, ContentObject } from "./blob-store.ts";
import { unusable } from "./content-file.ts";

/** What is known of the object, whose size must be that one. Throws as `BlobStore.adopt`. */
export async function statOf(object: ContentObject, { size }: { size: number }): ReturnType<ContentObject["stat"]> {
  const found = await object.stat();
  if (found.size !== size) throw unusable(`has ${found.size} bytes, and should have ${size}`);
  return found;
}

/** Stores a copy of the object, whose bytes pass through this process. Throws as `BlobStore.adopt`. */
export async function copyObjectInto(
  store: Pick<BlobStore, "store">,
  object: ContentObject,
  blob: { digest: string; size: number },
): Promise<AdoptedBlob> {
  const found = await statOf(object, blob);
  return { ...(await store.store(object.bytes(found), blob.digest, { length: blob.size })), how: "copy" };
}
