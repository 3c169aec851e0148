import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, select } from "@moorage/kernel/store";
import { requireAlike } from "@moorage/platform/processes";
import { historyCutOf } from "./repos.ts";
import { placeholders, type RepoRules, unneededLinks, unneededManifests } from "./reachability.ts";
import { emitCollection } from "../events.ts";
import { checkAttachmentsBy, isFromUpstream, removeContent } from "../../registry/index.ts";

/**
 * Content that no repo links to and no library has any longer, to be removed from the blob store after the commit.
 * `size` is in bytes.
 */
export interface Freed {
  digest: string;
  generation: string;
  size: number;
}

/** The most manifests and blobs that one transaction checks, and the most manifests that it removes. */
export const MANIFEST_BATCH = 50;
export const BLOB_BATCH = 200;
const MAX_REMOVED = 1000;
const CHUNK = 200;

/**
 * Removes those of the manifests that nothing needs, together with the manifests above them. They are checked again in
 * the transaction that removes them: what was pushed, tagged or requested meanwhile stays. `more` is true when some are
 * left for another call.
 */
export const removeUnneededManifests = command(
  "oci.removeUnneededManifests",
  async (
    call: Call,
    { rules, digests }: { rules: RepoRules; digests: string[] },
  ): Promise<{ manifests: number; more: boolean }> => {
    await requireAlike(call.tx, call.agreedMs);
    const { repo } = rules;
    const found = await call.tx.selectFrom("repos").select("tag_policy").where("uid", "=", repo).executeTakeFirst();
    if (found === undefined) return { manifests: 0, more: false };
    // What is nobody's any more cannot be fetched again.
    if (rules.ignoresHistory === true && !(await isFromUpstream(call.tx, repo))) return { manifests: 0, more: false };
    const now = { ...rules, historyCutMs: historyCutOf(found.tag_policy, call.nowMs) };
    // From the top: an index never remains without what it refers to.
    const all = (await unneededManifests(call.tx, now, digests)).toReversed().flat();
    const removable = all.slice(0, MAX_REMOVED);
    for (const digest of removable) await checkAttachmentsBy(call, repo, digest);
    for (let at = 0; at < removable.length; at += CHUNK) {
      const some = removable.slice(at, at + CHUNK);
      await call.tx.deleteFrom("manifest_references").where("repo", "=", repo).where("digest", "in", some).execute();
      await call.tx.deleteFrom("manifests").where("repo", "=", repo).where("digest", "in", some).execute();
      await removeContent(call.tx, "manifest", repo, some);
    }
    if (removable.length > 0)
      await audit(call, {
        method: "registry.gc.manifests",
        resource: repo,
        isSystem: true,
        details: { count: String(removable.length) },
      });
    await emitCollection(call, { repo, type: "manifest", digests: removable });
    return { manifests: removable.length, more: all.length > removable.length };
  },
);

/** Unlinks those of the blobs that nothing in the repo needs. They are checked again here, as manifests are. */
export const removeUnneededBlobs = command(
  "oci.removeUnneededBlobs",
  async (
    call: Call,
    { rules, digests }: { rules: RepoRules; digests: string[] },
  ): Promise<{ blobs: number; freed: Freed[] }> => {
    await requireAlike(call.tx, call.agreedMs);
    const removable = await unneededLinks(call.tx, rules, digests);
    if (removable.length === 0) return { blobs: 0, freed: [] };
    await call.tx.deleteFrom("repo_blobs").where("repo", "=", rules.repo).where("digest", "in", removable).execute();
    await removeContent(call.tx, "blob", rules.repo, removable);
    await audit(call, {
      method: "registry.gc.blobs",
      resource: rules.repo,
      isSystem: true,
      details: { count: String(removable.length) },
    });
    await emitCollection(call, { repo: rules.repo, type: "blob", digests: removable });
    return { blobs: removable.length, freed: await freeUnlinked(call.tx, removable) };
  },
);

/** Removes those of the blobs that no repo links to, such as those of a deleted repo. */
export const removeUnlinkedBlobs = command(
  "oci.removeUnlinkedBlobs",
  async (call: Call, { digests }: { digests: string[] }): Promise<{ freed: Freed[] }> => {
    await requireAlike(call.tx, call.agreedMs);
    return { freed: await freeUnlinked(call.tx, digests) };
  },
);

/** A stored copy of a blob. */
export interface StoredCopy {
  digest: string;
  generation: string;
}

/**
 * Those of the stored copies that no record is about. It writes nothing, but only in a transaction that writes is it
 * certain that no newer program has migrated the database meanwhile.
 */
export const findUnrecorded = command(
  "oci.findUnrecorded",
  async (call: Call, { copies }: { copies: StoredCopy[] }): Promise<{ unrecorded: StoredCopy[] }> => {
    await requireAlike(call.tx, call.agreedMs);
    const rows = await call.tx
      .selectFrom("blobs")
      .select(["digest", "generation"])
      .where(
        "digest",
        "in",
        copies.map(({ digest }) => digest),
      )
      .execute();
    const recorded = new Set(rows.map(({ digest, generation }) => `${digest} ${generation}`));
    return { unrecorded: copies.filter(({ digest, generation }) => !recorded.has(`${digest} ${generation}`)) };
  },
);

/** Forgets those of the blobs that no repo links to and no library has. */
export async function freeUnlinked(tx: Database, digests: readonly string[]): Promise<Freed[]> {
  const freed = await select<Freed>(
    tx,
    `select b.digest, b.generation, b.size from blobs as b where b.digest in (${placeholders(digests)})
    and (select 1 from repo_blobs as l where l.digest = b.digest limit 1) is null
    and (select 1 from artifact_files as f where f.digest = b.digest limit 1) is null`,
    digests,
  );
  if (freed.length > 0)
    await tx
      .deleteFrom("blobs")
      .where(
        "digest",
        "in",
        freed.map(({ digest }) => digest),
      )
      .execute();
  return freed.map(({ digest, generation, size }) => ({ digest, generation, size }));
}
