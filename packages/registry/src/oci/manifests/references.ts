import type { Call } from "@moorage/kernel/core/call";
import { policyOf } from "../../registry/index.ts";
import type { ParsedManifest } from "../formats/manifest.ts";

/** The number of rows in one statement: below every engine's limit of parameters. */
export const CHUNK = 500;

/**
 * The digests that the repo lacks of those a manifest needs: manifests that an index names only unless it may be
 * sparse.
 */
export async function requiredOf(
  call: Call,
  repo: string,
  { references }: Pick<ParsedManifest, "references">,
  held: Map<string, number>,
): Promise<string[]> {
  const lacking = references.filter(({ digest }) => !held.has(digest));
  const isSparse = lacking.some(({ kind }) => kind === "manifest") && (await allowsSparse(call, repo));
  return lacking.filter(({ kind }) => kind === "blob" || !isSparse).map(({ digest }) => digest);
}

/** Whether the repo's policy accepts an index without the manifests that it names. */
export async function allowsSparse(call: Call, repo: string): Promise<boolean> {
  const row = await call.tx.selectFrom("repos").select("tag_policy").where("uid", "=", repo).executeTakeFirst();
  return policyOf(row?.tag_policy ?? null).allowsSparse;
}

/** The digests among the references that the repo does not hold. */
export async function missingReferences(
  call: Call,
  repo: string,
  manifest: Pick<ParsedManifest, "references">,
): Promise<string[]> {
  const held = await heldReferences(call, repo, manifest);
  return manifest.references.map(({ digest }) => digest).filter((digest) => !held.has(digest));
}

/** The size in bytes of each of the references that the repo holds, by digest. */
export async function heldReferences(
  call: Call,
  repo: string,
  { references }: Pick<ParsedManifest, "references">,
): Promise<Map<string, number>> {
  const held = new Map<string, number>();
  for (const kind of ["blob", "manifest"] as const) {
    const digests = references.filter((reference) => reference.kind === kind).map((reference) => reference.digest);
    for (let at = 0; at < digests.length; at += CHUNK) {
      const some = digests.slice(at, at + CHUNK);
      const rows = kind === "blob" ? await heldBlobs(call, repo, some) : await heldManifests(call, repo, some);
      for (const { digest, size } of rows) held.set(digest, size);
    }
  }
  return held;
}

async function heldBlobs({ tx }: Call, repo: string, digests: string[]): Promise<{ digest: string; size: number }[]> {
  return await tx
    .selectFrom("repo_blobs as l")
    .innerJoin("blobs as b", "b.digest", "l.digest")
    .select(["b.digest", "b.size"])
    .where("l.repo", "=", repo)
    .where("l.digest", "in", digests)
    // What is known to be lost must be sent again.
    .where("b.suspect_time", "is", null)
    .execute();
}

async function heldManifests(
  { tx }: Call,
  repo: string,
  digests: string[],
): Promise<{ digest: string; size: number }[]> {
  return await tx
    .selectFrom("manifests")
    .select(["digest", "size"])
    .where("repo", "=", repo)
    .where("digest", "in", digests)
    .execute();
}
