import { Capability } from "@moorage/api/messages";
import { audit } from "@moorage/kernel/audit";
import type { StoredBlob } from "@moorage/kernel/blobs";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { Resolved } from "@moorage/kernel/core/image-path";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { type Database, select, statement } from "@moorage/kernel/store";
import { createGroupNamed } from "@moorage/platform/iam";
import { addContent, createRepoNamed, quotasAbove, removeContent } from "../../registry/index.ts";
import { blobUnknown, findBlob } from "../find-blob.ts";
import { RegistryError, rejected } from "../errors.ts";
import { denied, pullableRepository, PUSH, resolveForPush, repositoryFor } from "../names.ts";
import type { PublicSettings } from "../anonymous.ts";
import { emitDelete, emitPush } from "../events.ts";
import { BEFORE_MANIFEST, pushCommand } from "../push-command.ts";

/** The link of a blob changes nothing of what was answered: a missing blob is not kept as an answer. */
const ADDS_ALONE = { changes: () => [] };

const insertUpload = statement(
  "insert into uploads (uid, repo, identity, create_time, update_time) values (?, ?, ?, ?, ?) on conflict (uid) do nothing",
);
const deleteUpload = statement("delete from uploads where uid = ?");
const selectEnded = statement<{ uid: string }>("select uid from ended_uploads where uid = ?");
const insertEnded = statement<{ uid: string }>(
  "insert into ended_uploads (uid) values (?) on conflict (uid) do nothing returning uid",
);
const deleteEnded = statement<{ uid: string }>(
  "delete from ended_uploads where uid in (select uid from ended_uploads where uid < ? order by uid limit ?) returning uid",
);
const insertBlob = statement<{ digest: string }>(
  "insert into blobs (digest, generation, size, create_time) values (?, ?, ?, ?) on conflict (digest) do nothing returning digest",
);
const selectGeneration = statement<{ generation: string }>("select generation from blobs where digest = ?");
const touchLink = statement("update repo_blobs set touch_time = ? where repo = ? and digest = ?");

/**
 * Answers the uid of the repo of that name. A missing repo is created, with the subgroups of its path that are missing;
 * a missing organization is not. Throws DENIED without the capability to push, or to create what is missing. Source:
 * docs/contract.md, "Registry".
 */
export const ensureRepository = pushCommand(
  "oci.ensureRepository",
  async (call: Call, input: { name: string }): Promise<{ repo: string }> => {
    return { repo: await makeRepository(call, await resolveForPush(call, input.name)) };
  },
);

/**
 * Answers the uid of the resolved repo. A missing repo is created, with the subgroups of its path that are missing, and
 * the tag policy. The caller must have checked the rights before.
 */
export async function makeRepository(
  call: Call,
  { repo, group, missing }: Resolved,
  policy: string | null = null,
): Promise<string> {
  if (repo !== undefined) return repo;
  const image = missing.at(-1);
  if (group === undefined || image === undefined)
    throw denied(call, missing.join("/"), [Capability.CAP_IAM_GROUPS_CREATE]);
  let parent = group;
  for (const subgroup of missing.slice(0, -1)) {
    parent = await makeGroup(call, parent, subgroup);
    await audit(call, { method: "registry.group.create", resource: parent, details: { name: subgroup } });
  }
  const made = await createRepoNamed(call, parent, image, policy);
  await audit(call, { method: "registry.repo.create", resource: made, details: { name: image } });
  return made;
}

/** A part of an image's path can be a group's name only if groups may be called so. Throws NAME_INVALID. */
async function makeGroup(call: Call, parent: string, name: string): Promise<string> {
  try {
    return await createGroupNamed(call, parent, name);
  } catch (error) {
    if (!(error instanceof MoorageError) || error.code !== Code.InvalidArgument) throw error;
    const [{ description = "" } = {}] = error.details.fieldViolations ?? [];
    throw rejected("NAME_INVALID", { field: "name", description: `group ${name} cannot be made: ${description}` });
  }
}

/**
 * Records an upload of the repo and the identity, which began at `beganMs`, in milliseconds since 1970. `isOpen`: false
 * when it has ended.
 */
export const startUpload = pushCommand(
  "oci.startUpload",
  async (call: Call, input: { repo: string; upload: string; beganMs: number }): Promise<{ isOpen: boolean }> => {
    const { repo, upload, beganMs } = input;
    if ((await selectEnded(call.tx, upload)).length > 0) return { isOpen: false };
    await insertUpload(call.tx, upload, repo, call.caller.identity, beganMs, call.nowMs);
    return { isOpen: true };
  },
  { ...BEFORE_MANIFEST, touches: ({ upload }) => ({ writes: [`upload ${upload}`] }) },
);

/** An upload that ends. `isSigned` as in Session. */
export interface EndingUpload {
  upload: string;
  isSigned: boolean;
}

/** Ends an upload. */
export const endUpload = command(
  "oci.endUpload",
  async ({ tx }: Call, ending: EndingUpload): Promise<void> => {
    await end(tx, ending);
  },
  BEFORE_MANIFEST,
);

/** False when it had ended before. */
async function end(tx: Database, { upload, isSigned }: EndingUpload): Promise<boolean> {
  const [ended] = await Promise.all([isSigned ? insertEnded(tx, upload) : [1], deleteUpload(tx, upload)]);
  return ended.length > 0;
}

/**
 * Links a stored blob to the repo and ends its upload. A blob that came without one (`ending` is undefined) creates its
 * repo when it is missing. Answers the generation to retain: when the same content was stored before, the generation of
 * that copy. Throws DENIED or NAME_UNKNOWN when the right or the upload's repo was removed meanwhile, and
 * BLOB_UPLOAD_UNKNOWN when the upload has ended.
 */
export const commitBlob = pushCommand(
  "oci.commitBlob",
  async (call: Call, input: StoredBlob & { name: string; ending: EndingUpload | undefined }): Promise<Kept> => {
    const { name, digest, ending } = input;
    const repo =
      ending === undefined
        ? await makeRepository(call, await resolveForPush(call, name))
        : await repositoryFor(call, name, ...PUSH);
    emitPush(call, { repository: name, repo, digest, type: "blob" });
    const [isOpen, kept] = await Promise.all([
      ending === undefined || end(call.tx, ending),
      keepBlob(call, repo, input),
    ]);
    if (!isOpen) throw new RegistryError("BLOB_UPLOAD_UNKNOWN", "The upload has ended");
    return kept;
  },
  {
    ...BEFORE_MANIFEST,
    ...ADDS_ALONE,
    touches: ({ digest, ending }) => ({
      writes: [`blob ${digest}`, ...(ending === undefined ? [] : [`upload ${ending.upload}`])],
    }),
  },
);

/** A blob that was linked to a repo. */
interface Kept {
  /** The copy to retain: when the same content was stored before, that one. */
  generation: string;
  /** What a quota warns of; empty for nothing. */
  warning: string;
}

/**
 * Links a stored blob to the repo, without a check of rights. Throws FAILED_PRECONDITION (QUOTA_EXCEEDED) when it does
 * not fit into a quota above the repo.
 */
export async function keepBlob(call: Call, repo: string, { digest, size, generation }: StoredBlob): Promise<Kept> {
  const [recorded, warning] = await Promise.all([
    recordBlob(call, { digest, size, generation }),
    link(call, repo, { digest, size }),
  ]);
  return { ...recorded, warning };
}

/**
 * Records stored content. Whoever calls adds what needs it, in the same transaction. Answers the generation to retain:
 * when the same content was stored before, the generation of that copy.
 */
export async function recordBlob(
  call: Call,
  { digest, size, generation }: StoredBlob,
): Promise<{ generation: string }> {
  const isNew = (await insertBlob(call.tx, digest, generation, size, call.nowMs)).length > 0;
  if (isNew) return { generation };
  const [stored] = await selectGeneration(call.tx, digest);
  if (stored === undefined) throw new Error(`blob ${digest} is there and cannot be read`);
  return stored;
}

/**
 * Links another repo's blob to this repo. `mounted` is false when the source has no such blob, or the caller may not
 * pull it from there.
 */
export const mountBlob = pushCommand(
  "oci.mountBlob",
  async (
    call: Call,
    input: { name: string; from: string; digest: string; settings: PublicSettings },
  ): Promise<{ mounted: boolean }> => {
    const repo = await repositoryFor(call, input.name, ...PUSH);
    let size: number;
    try {
      const source = await pullableRepository(call, input.settings, input.from, { digest: input.digest });
      const found = await findBlob(call, source, input.digest);
      if (!found) return { mounted: false };
      size = found.size;
    } catch (error) {
      if (error instanceof RegistryError) return { mounted: false };
      throw error;
    }
    await link(call, repo, { digest: input.digest, size });
    emitPush(call, { repository: input.name, repo, digest: input.digest, type: "blob" });
    return { mounted: true };
  },
  { ...BEFORE_MANIFEST, ...ADDS_ALONE, touches: ({ digest }) => ({ writes: [`blob ${digest}`] }) },
);

/**
 * Unlinks a blob from the repo. A blob that a manifest of the repo refers to is not unlinked, so that every image can
 * still be pulled: `neededBy` is the digest of such a manifest. `unused` is the generation to remove from the blob
 * store when no repo links to the blob any longer. Throws BLOB_UNKNOWN when the repo has no such blob.
 */
export const deleteBlob = command(
  "oci.deleteBlob",
  async (call: Call, input: { name: string; digest: string }): Promise<{ unused?: string; neededBy?: string }> => {
    const repo = await repositoryFor(call, input.name, Capability.CAP_MANIFEST_DELETE);
    const { digest } = input;
    const blob = await findBlob(call, repo, digest);
    if (!blob) throw blobUnknown(digest);
    const needed = await call.tx
      .selectFrom("manifest_references")
      .select("digest")
      .where("repo", "=", repo)
      .where("target", "=", digest)
      .limit(1)
      .executeTakeFirst();
    if (needed) return { neededBy: needed.digest };
    await call.tx.deleteFrom("repo_blobs").where("repo", "=", repo).where("digest", "=", digest).execute();
    await removeContent(call.tx, "blob", repo, [digest]);
    await audit(call, { method: "registry.blob.delete", resource: repo, details: { digest } });
    emitDelete(call, { repository: input.name, repo, digest, type: "blob" });
    const other = await call.tx
      .selectFrom("repo_blobs")
      .select("repo")
      .where("digest", "=", digest)
      .limit(1)
      .executeTakeFirst();
    if (other || (await isOfLibrary(call, digest))) return {};
    await call.tx.deleteFrom("blobs").where("digest", "=", digest).execute();
    return { unused: blob.generation };
  },
);

/** Forgets uploads whose ids have expired; unknown ones are ignored. */
export const dropUploads = command(
  "oci.dropUploads",
  async (call: Call, input: { uploads: string[] }): Promise<void> => {
    if (input.uploads.length > 0) await call.tx.deleteFrom("uploads").where("uid", "in", input.uploads).execute();
  },
);

/** Forgets at most `limit` ended uploads with a smaller name than `before`. Answers how many there were. */
export const forgetEndedUploads = command(
  "oci.forgetEndedUploads",
  async ({ tx }: Call, { before, limit }: { before: string; limit: number }): Promise<{ count: number }> => ({
    count: (await deleteEnded(tx, before, limit)).length,
  }),
);

/** Links a blob to the repo. Answers what a quota warns of; empty for nothing. */
async function link(call: Call, repo: string, { digest, size }: { digest: string; size: number }): Promise<string> {
  const { tx, nowMs } = call;
  const quotas = quotasAbove(repo);
  const [made] = await select<{ quotas: number }>(
    tx,
    `insert into repo_blobs (repo, digest, create_time, touch_time) values (?, ?, ?, ?) on conflict (repo, digest) do nothing returning ${quotas.text} as quotas`,
    [repo, digest, nowMs, nowMs, ...quotas.parameters],
  );
  if (made === undefined) await touchLink(tx, nowMs, repo, digest);
  if (made === undefined || Number(made.quotas) === 0) return "";
  return await addContent(call, { kind: "blob", place: repo, digest, size });
}

async function isOfLibrary(call: Call, digest: string): Promise<boolean> {
  const file = await call.tx
    .selectFrom("artifact_files")
    .select("artifact")
    .where("digest", "=", digest)
    .limit(1)
    .executeTakeFirst();
  return file !== undefined;
}
