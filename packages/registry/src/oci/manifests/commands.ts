import { Capability } from "@moorage/api/messages";
import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command, type Sharing } from "@moorage/kernel/core/command";
import { isImageConfigType } from "@moorage/kernel/core/media-types";
import {
  addContent,
  type Attacher,
  attacherOf,
  checkAttachments,
  checkAttachmentsBy,
  checkSignatures,
  countOfQuotasAbove,
  deleteTag,
  hasSignatures,
  moveTag,
  NO_ATTACHER,
  removeContent,
  tagKey,
} from "../../registry/index.ts";
import { makeRepository } from "../blobs/commands.ts";
import { RegistryError } from "../errors.ts";
import { startGraceAround } from "../gc/grace-commands.ts";
import { CHUNK, heldReferences, requiredOf } from "./references.ts";
import { type LaterMove, laterMove } from "./move-time.ts";
import { checkTagRights } from "./tag-rights.ts";
import { type TagsAbove, tagsAbove } from "./tags-above.ts";
import type { StoredManifest } from "../formats/manifest.ts";
import { resolveForPush, repositoryFor } from "../names.ts";
import { emitDelete, emitPush } from "../events.ts";
import { pushCommand } from "../push-command.ts";

/** The references of a manifest that shares its transaction, at most. */
const MOST_SHARED = 200;

export interface PutManifestInput extends StoredManifest {
  /** `<organization>/<image…>` */
  name: string;
  /** The tags that will point to it. */
  tags: string[];
  /** When they moved at the installation that pushes, in milliseconds since 1970; undefined for now. */
  moveMs?: number | undefined;
}

/** What became of a manifest: of what was stored, the repo and what a quota warns of, which is empty for nothing. */
interface PutManifestOutput extends Rejected {
  repo?: string;
  warning?: string;
  /** A tag that moved here later, for which nothing was stored. */
  later?: LaterMove;
}

/** Why a manifest was not stored; both are empty when it was. */
interface Rejected {
  /** The digests that the manifest refers to and the repo does not hold. */
  missing: string[];
  /** Content of another size than the manifest states, with its size in bytes. */
  wrongSizes: { digest: string; size: number }[];
}

/**
 * Stores a manifest and moves its tags, in one transaction, unless it is rejected. A missing repo is created. Throws
 * DENIED without the rights to push, to create the repo, or to create or move one of the tags, and FAILED_PRECONDITION
 * (QUOTA_EXCEEDED) when it does not fit into a quota.
 */
export const putManifest = pushCommand(
  "oci.putManifest",
  async (call: Call, input: PutManifestInput): Promise<PutManifestOutput> => {
    const { digest, manifest, tags, moveMs } = input;
    const place = await resolveForPush(call, input.name);
    // A repo that does not exist holds none of the references. The check comes first, so that a rejected push does not
    // create the repo.
    if (place.repo === undefined && manifest.references.length > 0)
      return { missing: manifest.references.map((reference) => reference.digest), wrongSizes: [] };
    const repo = await makeRepository(call, place);
    await checkTagRights(call, repo, input);
    if (moveMs !== undefined) {
      const later = await laterMove(call, { repo, name: input.name, tags, digest, timeMs: moveMs });
      if (later !== undefined) return { missing: [], wrongSizes: [], later };
    }
    const held = await heldReferences(call, repo, manifest);
    const wrongSizes = manifest.references.flatMap(({ digest: target, size: stated }) => {
      const size = held.get(target) ?? stated;
      return size === stated ? [] : [{ digest: target, size }];
    });
    if (wrongSizes.length > 0) return { missing: [], wrongSizes };
    const missing = await requiredOf(call, repo, manifest, held);
    if (missing.length > 0) return { missing, wrongSizes };
    const isAttaching = manifest.subject !== "" || manifest.hasAttestations === true;
    const attacher = isAttaching ? await attacherOf(call, repo) : NO_ATTACHER;
    const { warning } = await insertManifest(call, repo, input, attacher);
    const pushed = { repository: input.name, repo, digest, type: "manifest" } as const;
    if (tags.length === 0) {
      await audit(call, { method: "registry.manifest.put", resource: repo, details: { digest } });
      emitPush(call, pushed);
    }
    for (const name of tags) {
      emitPush(call, { ...pushed, tag: name });
      const how = moveMs === undefined ? { reason: "push" as const } : { reason: "replicate" as const, timeMs: moveMs };
      const { uid } = await moveTag(call, { repo, name, digest, ...how });
      await audit(call, { method: "registry.manifest.put", resource: uid, details: { name, digest } });
    }
    return { missing: [], wrongSizes, repo, warning };
  },
  {
    touches: touchedBy,
    // A manifest that is there for the first time changes no answer, since its absence is not kept as one.
    changes: ({ tags }, { repo }) => (repo === undefined ? [] : tags.map((tag) => tagKey(repo, tag))),
  },
);

/** What a push of the manifest meets others by; nothing for one with so many references that it is better alone. */
function touchedBy({ name, digest, tags, manifest }: PutManifestInput): Omit<Sharing, "kind"> | undefined {
  if (manifest.references.length > MOST_SHARED) return undefined;
  return {
    writes: [`manifest ${name}@${digest}`, `image ${digest}`, ...tags.map((tag) => `tag ${name}:${tag}`)],
    reads: manifest.references.map(({ digest: target, kind }) =>
      kind === "blob" ? `blob ${target}` : `manifest ${name}@${target}`,
    ),
  };
}

/**
 * Stores a manifest in the repo unchanged, with the references it contains, and without a check of rights. `missing`
 * lists the references that the repo does not hold and its policy requires; if there are any, nothing is stored.
 * `isNew` is false when the repo held the manifest before.
 */
export async function storeManifest(
  call: Call,
  repo: string,
  stored: StoredManifest,
): Promise<{ missing: string[]; isNew: boolean }> {
  const missing = await requiredOf(call, repo, stored.manifest, await heldReferences(call, repo, stored.manifest));
  if (missing.length > 0) return { missing, isNew: false };
  return { missing, isNew: (await insertManifest(call, repo, stored, NO_ATTACHER)).isNew };
}

/**
 * Removes a manifest that the server itself has stored, unless a tag or another manifest names it. Its content gets a
 * new grace, so that a pull that is under way ends well. Answers whether it was removed.
 */
export async function removeStoredManifest(call: Call, repo: string, digest: string): Promise<boolean> {
  const { tx, nowMs } = call;
  const tag = tx.selectFrom("tags").select("name").where("parent", "=", repo).where("digest", "=", digest).limit(1);
  const references = tx.selectFrom("manifest_references").where("repo", "=", repo);
  const above = references.select("digest").where("target", "=", digest).limit(1);
  if ((await tag.executeTakeFirst()) ?? (await above.executeTakeFirst())) return false;
  await checkAttachmentsBy(call, repo, digest);
  await tx
    .updateTable("repo_blobs")
    .set({ touch_time: nowMs })
    .where("repo", "=", repo)
    .where("touch_time", "<", nowMs)
    .where("digest", "in", references.select("target").where("digest", "=", digest).where("kind", "=", "blob"))
    .execute();
  const gone = await tx
    .deleteFrom("manifests")
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .returning("digest")
    .execute();
  await tx.deleteFrom("manifest_references").where("repo", "=", repo).where("digest", "=", digest).execute();
  if (gone.length > 0) await removeContent(tx, "manifest", repo, [digest]);
  return true;
}

/**
 * Answers whether the repo did not hold the manifest before, and what a quota warns of. Its references must have been
 * checked.
 */
async function insertManifest(
  call: Call,
  repo: string,
  { digest, content, manifest, config }: StoredManifest,
  attacher: Attacher,
): Promise<{ isNew: boolean; warning: string }> {
  const { mediaType, subject, artifactType, annotations, references } = manifest;
  const image = {
    architecture: config?.architecture ?? null,
    image_size: manifest.image?.size ?? null,
    labels: JSON.stringify(config?.labels ?? {}),
  };
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
    pushed_by: attacher.identity,
    may_advise: attacher.mayAdvise ? 1 : 0,
    ...image,
  };
  const made = await call.tx
    .insertInto("manifests")
    .values(row)
    .onConflict((on) => on.columns(["repo", "digest"]).doNothing())
    .returning([countOfQuotasAbove(repo).as("quotas"), hasSignatures(repo, digest).as("signatures")])
    .executeTakeFirst();
  // A repeated push has the same bytes and so the same references.
  const isNew = made !== undefined;
  const warning =
    Number(made?.quotas ?? 0) === 0
      ? ""
      : await addContent(call, { kind: "manifest", place: repo, digest, size: row.size });
  if (!isNew)
    await call.tx
      .updateTable("manifests")
      .set({ touch_time: call.nowMs, ...(config !== undefined && image) })
      .where("repo", "=", repo)
      .where("digest", "=", digest)
      .execute();
  // Before other artifactTypes were read, such an image was not: pushed again, it is.
  const mayBeUnread = isNew || !isImageConfigType(artifactType);
  if (mayBeUnread && holdsFileSystems({ digest, content, manifest }))
    for (const { stored } of call.below.image) await stored(call, { repo, digest });
  const isVouched = !isNew && attacher.mayAdvise && (await vouchFor(call, repo, digest, attacher));
  // Some are of its bytes, and could not be verified without them.
  if (Number(made?.signatures ?? 0) > 0) await checkSignatures(call, repo, digest);
  if ((isNew || isVouched) && subject !== "") await checkAttachments(call, repo, subject);
  if ((isNew || isVouched) && manifest.hasAttestations) await checkAttachments(call, repo, digest);
  for (let at = 0; isNew && at < references.length; at += CHUNK) {
    const rows = references.slice(at, at + CHUNK).map(({ digest: target, kind }) => ({ repo, digest, target, kind }));
    await call.tx.insertInto("manifest_references").values(rows).execute();
  }
  return { isNew, warning };
}

/**
 * Whether its layers are to be read. An artifactType may say anything: clients run what has the configuration of an
 * image. One that is attached to another manifest and says that it is something else is left out.
 */
function holdsFileSystems({ content, manifest: { artifactType, image, subject } }: StoredManifest): boolean {
  if (isImageConfigType(artifactType)) return true;
  if (image === undefined || subject !== "") return false;
  const { config } = JSON.parse(Buffer.from(content).toString()) as { config: { mediaType: string } };
  return isImageConfigType(config.mediaType);
}

/**
 * Who may write advisories vouches for what is attached already, by pushing it again; nobody else takes that back.
 * Answers whether that is new.
 */
async function vouchFor(call: Call, repo: string, digest: string, { identity }: Attacher): Promise<boolean> {
  const { numUpdatedRows } = await call.tx
    .updateTable("manifests")
    .set({ pushed_by: identity, may_advise: 1 })
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .where("may_advise", "=", 0)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Deletes a manifest by digest, with the tags that point to it. The history of these tags is retained, and the grace
 * of the content that the manifest refers to starts. A manifest below an index that a tag points to is not deleted:
 * `above` has those tags. Throws MANIFEST_UNKNOWN when the repo has no such manifest. Source: docs/contract.md,
 * "Registry".
 */
export const deleteManifest = command(
  "oci.deleteManifest",
  async (call: Call, { name, digest }: { name: string; digest: string }): Promise<{ above?: TagsAbove }> => {
    const repo = await repositoryFor(call, name, Capability.CAP_MANIFEST_DELETE);
    const above = await tagsAbove(call, repo, digest);
    if (above !== undefined) return { above };
    await startGraceAround(call, repo, digest);
    await checkAttachmentsBy(call, repo, digest);
    const { numDeletedRows } = await call.tx
      .deleteFrom("manifests")
      .where("repo", "=", repo)
      .where("digest", "=", digest)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw manifestUnknown(digest);
    await removeContent(call.tx, "manifest", repo, [digest]);
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

/**
 * Deletes a tag and leaves its manifest. `moveMs`: when it was deleted at the installation that asks for it; answers
 * what the tag moved to later here, which stays. Throws MANIFEST_UNKNOWN when the repo has no such tag.
 */
export const removeTag = command(
  "oci.removeTag",
  async (
    call: Call,
    { name, tag, moveMs }: { name: string; tag: string; moveMs?: number | undefined },
  ): Promise<{ later?: LaterMove }> => {
    const repo = await repositoryFor(call, name, Capability.CAP_TAG_DELETE);
    const when = moveMs === undefined ? {} : { timeMs: moveMs };
    if (moveMs !== undefined) {
      const later = await laterMove(call, { repo, name, tags: [tag], digest: "", timeMs: moveMs });
      if (later !== undefined) return { later };
    }
    if (!(await deleteTag(call, { repo, name: tag, reason: "delete", ...when }))) throw manifestUnknown(tag);
    await audit(call, { method: "registry.tag.delete", resource: repo, details: { name: tag } });
    return {};
  },
);

/** The error for a tag or manifest that the repo does not have. */
export function manifestUnknown(reference: string): RegistryError {
  return new RegistryError("MANIFEST_UNKNOWN", `Manifest not found: ${reference}`, {
    detail: { reference },
    details: { resource: { type: "moorage.registry.v2.Manifest", name: reference } },
  });
}
