import { audit } from "../../audit/index.ts";
import type { Call } from "../../core/call.ts";
import { historyCutOf } from "./repos.ts";
import { marks, type RepoRules, unneededLinks, unneededManifests } from "./reachability.ts";
import { emitCollection } from "../events.ts";
import { type Database, select } from "../../store/index.ts";
import { command } from "../../core/command.ts";

/** Content that no repo links to any longer, to be removed from the blob store after the commit. */
export interface Freed {
  digest: string;
  generation: string;
  size: number;
}

/** The most manifests and blobs that one transaction is asked about, and the most manifests that it removes. */
export const MANIFESTS_AT_ONCE = 50;
export const BLOBS_AT_ONCE = 200;
const MAX_REMOVED = 1000;
const CHUNK = 200;

/**
 * Removes the manifests among these that nothing needs, together with what they hang on. They are looked at anew here,
 * in the transaction that removes them: what was pushed, tagged or asked for meanwhile stays. `more`: some are left, to
 * be asked for once more.
 */
export const removeUnneededManifests = command(
  "oci.removeUnneededManifests",
  async (
    call: Call,
    { rules, digests }: { rules: RepoRules; digests: string[] },
  ): Promise<{ manifests: number; more: boolean }> => {
    const { repo } = rules;
    const found = await call.tx.selectFrom("repos").select("tag_policy").where("uid", "=", repo).executeTakeFirst();
    if (found === undefined) return { manifests: 0, more: false };
    const now = { ...rules, historyCutMs: historyCutOf(found.tag_policy, call.nowMs) };
    // From the top: an index is never there without what it refers to.
    const all = (await unneededManifests(call.tx, now, digests)).toReversed().flat();
    const going = all.slice(0, MAX_REMOVED);
    for (let at = 0; at < going.length; at += CHUNK) {
      const some = going.slice(at, at + CHUNK);
      await call.tx.deleteFrom("manifest_references").where("repo", "=", repo).where("digest", "in", some).execute();
      await call.tx.deleteFrom("manifests").where("repo", "=", repo).where("digest", "in", some).execute();
    }
    if (going.length > 0)
      await audit(call, {
        method: "registry.gc.manifests",
        resource: repo,
        isSystem: true,
        details: { count: String(going.length) },
      });
    await emitCollection(call, { repo, type: "manifest", digests: going });
    return { manifests: going.length, more: all.length > going.length };
  },
);

/** Takes the blobs among these that nothing in the repo needs from it. Looked at anew here, as manifests are. */
export const removeUnneededBlobs = command(
  "oci.removeUnneededBlobs",
  async (
    call: Call,
    { rules, digests }: { rules: RepoRules; digests: string[] },
  ): Promise<{ blobs: number; freed: Freed[] }> => {
    const going = await unneededLinks(call.tx, rules, digests);
    if (going.length === 0) return { blobs: 0, freed: [] };
    await call.tx.deleteFrom("repo_blobs").where("repo", "=", rules.repo).where("digest", "in", going).execute();
    await audit(call, {
      method: "registry.gc.blobs",
      resource: rules.repo,
      isSystem: true,
      details: { count: String(going.length) },
    });
    await emitCollection(call, { repo: rules.repo, type: "blob", digests: going });
    return { blobs: going.length, freed: await freeUnlinked(call.tx, going) };
  },
);

/** Removes the blobs among these that no repo links to, such as those of a repo that was deleted. */
export const removeUnlinkedBlobs = command(
  "oci.removeUnlinkedBlobs",
  async (call: Call, { digests }: { digests: string[] }): Promise<{ freed: Freed[] }> => {
    return { freed: await freeUnlinked(call.tx, digests) };
  },
);

async function freeUnlinked(tx: Database, digests: readonly string[]): Promise<Freed[]> {
  const freed = await select<Freed>(
    tx,
    `select b.digest, b.generation, b.size from blobs as b where b.digest in (${marks(digests)})
    and (select 1 from repo_blobs as l where l.digest = b.digest limit 1) is null`,
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
