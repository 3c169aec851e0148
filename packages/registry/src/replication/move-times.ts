import type { Database } from "@moorage/kernel/store";

/** A tag here, and what it pointed to; an empty digest stands for its deletion. */
interface PastMove {
  repo: string;
  tag: string;
  digest: string;
}

/** When the tag last moved to the digest, in milliseconds since 1970; undefined when it never did. */
export async function moveTime(tx: Database, { repo, tag, digest }: PastMove): Promise<number | undefined> {
  const found = await tx
    .selectFrom("tag_history")
    .select("time")
    .where("repo", "=", repo)
    .where("tag", "=", tag)
    .where("digest", "=", digest)
    .orderBy("time", "desc")
    .limit(1)
    .executeTakeFirst();
  return found?.time;
}
