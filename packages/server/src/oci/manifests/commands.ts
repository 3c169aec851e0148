import { Capability } from "@moorage/api";
import { audit } from "../../audit/index.ts";
import type { Call } from "../../core/call.ts";
import { deleteTag, moveTag, policyOf } from "../../registry/index.ts";
import { makeRepository } from "../blobs/commands.ts";
import { RegistryError } from "../errors.ts";
import { startGraceAround } from "../gc/grace-commands.ts";
import { type FixedTag, fixedTagAbove } from "./fixed-tags.ts";
import type { ParsedManifest } from "./parse.ts";
import { denied, lackingOf, resolveForPush, repositoryFor } from "../names.ts";
import { emitDelete, emitPush } from "../events.ts";
import { command } from "../../core/command.ts";
import { pushCommand } from "../push-command.ts";

// The number of rows in one statement: below every engine's limit of parameters.
const CHUNK = 500;

/** The bytes of a manifest and its parsed form. */
export interface StoredManifest {
  digest: string;
  content: Uint8Array;
  manifest: ParsedManifest;
  /** The architecture of an image, empty when its configuration names none. Undefined when it is not known. */
  architecture?: string | undefined;
}

export interface PutManifestInput extends StoredManifest {
  /** `<organization>/<image…>` */
  name: string;
  /** The tags that will point to it. */
  tags: string[];
}

/** Why a manifest was not stored; both are empty when it was. */
export interface Rejected {
  /** The digests that the manifest refers to and the repo does not hold. */
  missing: string[];
  /** Content of another size than the manifest states, with its size in bytes. */
  wrongSizes: { digest: string; size: number }[];
}

/**
 * Stores a manifest and moves its tags, in one transaction, unless it is rejected. A missing repo is created. Throws
 * DENIED without the rights to push, to create the repo, or to create or move one of the tags.
 */
export const putManifest = pushCommand(
  "oci.putManifest",
  async (call: Call, input: PutManifestInput): Promise<Rejected> => {
    const { digest, manifest, tags } = input;
    const place = await resolveForPush(call, input.name);
    // A repo that does not exist holds none of the references. The check comes first, so that a rejected push does not
    // create the repo.
    if (place.repo === undefined && manifest.references.length > 0)
      return { missing: manifest.references.map((reference) => reference.digest), wrongSizes: [] };
    const repo = await makeRepository(call, place);
    await checkTagRights(call, repo, input);
    const wrongSizes = await differingSizes(call, repo, manifest);
    if (wrongSizes.length > 0) return { missing: [], wrongSizes };
    const { missing } = await storeManifest(call, repo, input, await allowsSparse(call, repo, manifest));
    if (missing.length > 0) return { missing, wrongSizes };
    const pushed = { repository: input.name, repo, digest, type: "manifest" } as const;
    if (tags.length === 0) {
      await audit(call, { method: "registry.manifest.put", resource: repo, details: { digest } });
      emitPush(call, pushed);
    }
    for (const name of tags) {
      emitPush(call, { ...pushed, tag: name });
      const { uid } = await moveTag(call, { repo, name, digest, reason: "push" });
      await audit(call, { method: "registry.manifest.put", resource: uid, details: { name, digest } });
    }
    return { missing: [], wrongSizes };
  },
);

/**
 * Stores a manifest in the repo unchanged, with the references it contains, and without a check of rights. `missing`
 * lists the references that the repo does not hold; if there are any, nothing is stored. With `isSparse` the repo need
 * not hold manifests. `isNew` is false when the repo
 * held the manifest before.
 */
export async function storeManifest(
  call: Call,
  repo: string,
  { digest, content, manifest, architecture }: StoredManifest,
  isSparse = false,
): Promise<{ missing: string[]; isNew: boolean }> {
  const needed = isSparse ? manifest.references.filter(({ kind }) => kind === "blob") : manifest.references;
  const missing = await missingReferences(call, repo, { references: needed });
  if (missing.length > 0) return { missing, isNew: false };
  const { mediaType, subject, artifactType, annotations, references } = manifest;
  const image = { architecture: architecture ?? null, image_size: manifest.image?.size ?? null };
  const row = {
    repo,
    digest,
    media_type: mediaType,
    content,
    size: content.byteLength,
    subject,
    artifact_type: artifactType,
    annotations: JSON.stringify(annotations),
    create_time: call.nowMs,
    touch_time: call.nowMs,
    ...image,
  };
  const result = await call.tx
    .insertInto("manifests")
    .values(row)
    .onConflict((on) => on.columns(["repo", "digest"]).doNothing())
    .executeTakeFirst();
  // A repeated push has the same bytes and so the same references.
  const isNew = (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
  if (!isNew)
    await call.tx
      .updateTable("manifests")
      .set({ touch_time: call.nowMs, ...(architecture !== undefined && image) })
      .where("repo", "=", repo)
      .where("digest", "=", digest)
      .execute();
  for (let at = 0; isNew && at < references.length; at += CHUNK) {
    const rows = references.slice(at, at + CHUNK).map(({ digest: target, kind }) => ({ repo, digest, target, kind }));
    await call.tx.insertInto("manifest_references").values(rows).execute();
  }
  return { missing: [], isNew };
}

/** Whether the repo's policy accepts the manifest without the manifests that it names. */
async function allowsSparse(call: Call, repo: string, { references }: ParsedManifest): Promise<boolean> {
  if (!references.some(({ kind }) => kind === "manifest")) return false;
  const row = await call.tx.selectFrom("repos").select("tag_policy").where("uid", "=", repo).executeTakeFirst();
  return policyOf(row?.tag_policy ?? null).allowsSparse;
}

/**
 * Throws DENIED unless the caller may create those of the tags that are new and update those that move. The error lists
 * both rights where both are lacking, so that it does not reveal which tags exist.
 */
async function checkTagRights(call: Call, repo: string, { name, tags, digest }: PutManifestInput): Promise<void> {
  if (tags.length === 0) return;
  const known = await call.tx
    .selectFrom("tags")
    .select(["name", "digest"])
    .where("parent", "=", repo)
    .where("name", "in", tags)
    .execute();
  const lacking = await lackingOf(call, repo, [Capability.CAP_TAG_CREATE, Capability.CAP_TAG_UPDATE]);
  const needed = [
    ...(known.length < tags.length ? [Capability.CAP_TAG_CREATE] : []),
    ...(known.some((tag) => tag.digest !== digest) ? [Capability.CAP_TAG_UPDATE] : []),
  ];
  if (needed.some((capability) => lacking.includes(capability))) throw denied(call, name, lacking);
}

/** The digests among the references that the repo does not hold. */
export async function missingReferences(
  call: Call,
  repo: string,
  { references }: Pick<ParsedManifest, "references">,
): Promise<string[]> {
  const held = new Set<string>();
  for (const kind of ["blob", "manifest"] as const) {
    const digests = references.filter((reference) => reference.kind === kind).map((reference) => reference.digest);
    for (let at = 0; at < digests.length; at += CHUNK) {
      const rows = await call.tx
        .selectFrom(kind === "blob" ? "repo_blobs" : "manifests")
        .select("digest")
        .where("repo", "=", repo)
        .where("digest", "in", digests.slice(at, at + CHUNK))
        .execute();
      for (const { digest } of rows) held.add(digest);
    }
  }
  return references.map(({ digest }) => digest).filter((digest) => !held.has(digest));
}

/** The references that the repo holds and whose content has another size than the manifest states, with that size. */
async function differingSizes(
  call: Call,
  repo: string,
  { references }: ParsedManifest,
): Promise<Rejected["wrongSizes"]> {
  const stated = new Map(references.map(({ digest, size }) => [digest, size]));
  const wrong: Rejected["wrongSizes"] = [];
  for (let at = 0; at < references.length; at += CHUNK) {
    const digests = references.slice(at, at + CHUNK).map(({ digest }) => digest);
    const blobs = await call.tx
      .selectFrom("repo_blobs as l")
      .innerJoin("blobs as b", "b.digest", "l.digest")
      .select(["b.digest", "b.size"])
      .where("l.repo", "=", repo)
      .where("l.digest", "in", digests)
      .execute();
    const manifests = await call.tx
      .selectFrom("manifests")
      .select(["digest", "size"])
      .where("repo", "=", repo)
      .where("digest", "in", digests)
      .execute();
    for (const { digest, size } of [...blobs, ...manifests])
      if (stated.get(digest) !== size) wrong.push({ digest, size });
  }
  return wrong;
}

/**
 * Deletes a manifest by digest, with the tags that point to it. The history of these tags is retained, and the grace of
 * the content that the manifest refers to starts. A manifest below an index that a protected or immutable tag points to
 * is not deleted: `neededBy` is that tag. Throws MANIFEST_UNKNOWN when the repo has no such manifest. Source:
 * docs/contract.md, "Registry".
 */
export const deleteManifest = command(
  "oci.deleteManifest",
  async (call: Call, { name, digest }: { name: string; digest: string }): Promise<{ neededBy?: FixedTag }> => {
    const repo = await repositoryFor(call, name, Capability.CAP_MANIFEST_DELETE);
    const neededBy = await fixedTagAbove(call, repo, digest);
    if (neededBy !== undefined) return { neededBy };
    await startGraceAround(call, repo, digest);
    const { numDeletedRows } = await call.tx
      .deleteFrom("manifests")
      .where("repo", "=", repo)
      .where("digest", "=", digest)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw manifestUnknown(digest);
    await call.tx.deleteFrom("manifest_references").where("repo", "=", repo).where("digest", "=", digest).execute();
    const tags = await call.tx
      .selectFrom("tags")
      .select("name")
      .where("parent", "=", repo)
      .where("digest", "=", digest)
      .execute();
    emitDelete(call, { repository: name, repo, digest, type: "manifest" });
    for (const tag of tags) await deleteTag(call, { repo, name: tag.name, reason: "delete" });
    await audit(call, {
      method: "registry.manifest.delete",
      resource: repo,
      details: { digest, tags: tags.map((tag) => tag.name).join(" ") },
    });
    return {};
  },
);

/** Deletes a tag and leaves its manifest. Throws MANIFEST_UNKNOWN when the repo has no such tag. */
export const removeTag = command(
  "oci.removeTag",
  async (call: Call, { name, tag }: { name: string; tag: string }): Promise<void> => {
    const repo = await repositoryFor(call, name, Capability.CAP_TAG_DELETE);
    if (!(await deleteTag(call, { repo, name: tag, reason: "delete" }))) throw manifestUnknown(tag);
    await audit(call, { method: "registry.tag.delete", resource: repo, details: { name: tag } });
  },
);

/** The error for a tag or manifest that the repo does not have. */
export function manifestUnknown(reference: string): RegistryError {
  return new RegistryError("MANIFEST_UNKNOWN", `Manifest not found: ${reference}`, {
    detail: { reference },
    details: { resource: { type: "moorage.registry.v2.Manifest", name: reference } },
  });
}
