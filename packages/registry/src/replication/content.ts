import type { Database } from "@moorage/kernel/store";
import type { LocalManifest } from "./target.ts";

/** What an image consists of here. */
export interface LocalImage extends LocalManifest {
  /** The digests of its blobs. */
  blobs: string[];
  /** The digests of the manifests that it names. */
  children: string[];
}

/** A blob as it is stored here. */
export interface KeptBlob {
  digest: string;
  generation: string;
  size: number;
}

const MAX_REFERRERS = 1_000;
const MAX_ATTACHED = 20;

/** A manifest and what it names; undefined when the repo does not hold it. */
export async function imageOf(tx: Database, repo: string, digest: string): Promise<LocalImage | undefined> {
  const manifest = await tx
    .selectFrom("manifests")
    .select(["media_type", "content"])
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (manifest === undefined) return undefined;
  const references = await tx
    .selectFrom("manifest_references")
    .select(["target", "kind"])
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .orderBy("target")
    .execute();
  const of = (kind: string): string[] => references.filter((each) => each.kind === kind).map(({ target }) => target);
  return {
    digest,
    mediaType: manifest.media_type,
    content: new Uint8Array(manifest.content),
    blobs: of("blob"),
    children: of("manifest"),
  };
}

/** A blob that the repo holds; undefined when it does not. */
export async function blobOf(tx: Database, repo: string, digest: string): Promise<KeptBlob | undefined> {
  return await tx
    .selectFrom("repo_blobs as r")
    .innerJoin("blobs as b", "b.digest", "r.digest")
    .select(["b.digest", "b.generation", "b.size"])
    .where("r.repo", "=", repo)
    .where("r.digest", "=", digest)
    .executeTakeFirst();
}

/** The digests of the manifests that refer to one. */
export async function referrersOf(tx: Database, repo: string, digest: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("manifests")
    .select("digest")
    .where("repo", "=", repo)
    .where("subject", "=", digest)
    .orderBy("digest")
    .limit(MAX_REFERRERS)
    .execute();
  return rows.map((row) => row.digest);
}

/** The tags by which something is attached to a digest, such as `sha256-….sig`. */
export async function attachedTags(
  tx: Database,
  repo: string,
  digest: string,
): Promise<{ name: string; digest: string }[]> {
  const start = digest.replace(":", "-");
  return await tx
    .selectFrom("tags")
    .select(["name", "digest"])
    .where("parent", "=", repo)
    .where("name", ">=", start)
    // After `.`, so that it ends all names that go on with one.
    .where("name", "<", `${start}/`)
    .orderBy("name")
    .limit(MAX_ATTACHED)
    .execute();
}

/** A repo, by its path below the rule's group, that has the blob and was pushed by the rule; undefined without one. */
export async function pushedWith(
  tx: Database,
  { replication, repository }: { replication: string; repository: string },
  digest: string,
): Promise<string | undefined> {
  const found = await tx
    .selectFrom("repo_blobs as b")
    .innerJoin("replication_items as i", "i.repo", "b.repo")
    .select("i.repository")
    .where("b.digest", "=", digest)
    .where("i.replication", "=", replication)
    .where("i.repository", "!=", repository)
    .where("i.pushed_digest", "!=", "")
    .limit(1)
    .executeTakeFirst();
  return found?.repository;
}
