import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import type { Database } from "@moorage/kernel/store";

/** When the image was last pushed to the repo, as the field that v1 has for when it was seen. */
export async function lastSeen(tx: Database, repo: string, digest: string): Promise<{ lastSeen?: Timestamp }> {
  const row = await tx
    .selectFrom("manifests")
    .select("create_time")
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  return row === undefined ? {} : { lastSeen: timestamp(Number(row.create_time)) };
}
