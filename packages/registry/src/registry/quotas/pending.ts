import type { BlobStore } from "@moorage/kernel/blobs";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { type Database, select } from "@moorage/kernel/store";

/** The most open uploads that are asked for their sizes: in a bucket each is a request. */
const MAX_UPLOADS = 2_000;

interface Upload {
  uid: string;
  repo: string;
}

/** What open uploads hold, by group. */
export interface PendingBytes {
  /** In bytes. Undefined when there are too many, or a size could not be read. */
  of(group: string): Promise<number | undefined>;
}

/** Reads which uploads are open now. The size of each is asked once, when a group is asked that it is of. */
export async function pendingBytes(
  db: Database,
  blobs: Pick<BlobStore, "uploadSize">,
  failed: (error: unknown) => void,
  maxUploads = MAX_UPLOADS,
): Promise<PendingBytes> {
  const uploads = await select<Upload>(db, `select uid, repo from uploads order by uid limit ${maxUploads + 1}`, []);
  const sizes = new Map<string, number | undefined>();
  const sizeOf = async (uid: string): Promise<number | undefined> => {
    if (sizes.has(uid)) return sizes.get(uid);
    let size: number | undefined;
    try {
      size = await blobs.uploadSize(uid);
    } catch (error) {
      // One that has ended meanwhile holds nothing.
      if (error instanceof MoorageError && error.code === Code.NotFound) size = 0;
      else failed(error);
    }
    sizes.set(uid, size);
    return size;
  };
  return {
    async of(group) {
      if (uploads.length > maxUploads) return undefined;
      let sum = 0;
      for (const { uid, repo } of uploads) {
        if (!repo.startsWith(`${group}/`)) continue;
        const size = await sizeOf(uid);
        if (size === undefined) return undefined;
        sum += size;
      }
      return sum;
    },
  };
}
