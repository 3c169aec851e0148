import { type BlobStore, readInto } from "@moorage/kernel/blobs";
import type { ServiceContext } from "@moorage/kernel/core/service";

/** Reads blobs for services, after looking up in the database that the repo holds them. */
export function blobReader(blobs: BlobStore): ServiceContext["readBlob"] {
  return async (call, repo, digest, maxBytes) => {
    const row = await call.tx
      .selectFrom("repo_blobs")
      .innerJoin("blobs", "blobs.digest", "repo_blobs.digest")
      .select(["blobs.generation", "blobs.size"])
      .where("repo_blobs.repo", "=", repo)
      .where("repo_blobs.digest", "=", digest)
      .executeTakeFirst();
    if (row === undefined || row.size > maxBytes) return undefined;
    return await readInto(blobs, { digest, ...row });
  };
}
