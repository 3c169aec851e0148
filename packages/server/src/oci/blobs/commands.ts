import { Capability } from "@moorage/api";
import type { StoredBlob } from "../../blobs/index.ts";
import { audit } from "../../audit/index.ts";
import type { Call } from "../../core/call.ts";
import { Code, MoorageError } from "../../errors.ts";
import { createGroupNamed } from "../../iam/index.ts";
import { createRepoNamed } from "../../registry/index.ts";
import { blobUnknown, findBlob } from "./find.ts";
import { RegistryError } from "../errors.ts";
import { denied, pullableRepository, PUSH, pushPlace, repositoryFor } from "../names.ts";
import type { Resolved } from "../../core/image-path.ts";
import type { PublicSettings } from "../anonymous.ts";
import { emitDelete, emitPush } from "../events.ts";
import { command } from "../../core/command.ts";
import { pushCommand } from "../push-command.ts";

/**
 * The uid of the repo of that name, made with the subgroups on its way when it is missing. The organization is never
 * made. DENIED without the capability to push, or to create what is missing. Source: contract §8.
 */
export const ensureRepository = pushCommand(
  "oci.ensureRepository",
  async (call: Call, input: { name: string }): Promise<{ repo: string }> => {
    return { repo: await makeRepository(call, await pushPlace(call, input.name)) };
  },
);

/**
 * The repo of that place, made with the subgroups on its way when it is missing. The caller's rights have been looked
 * at.
 */
export async function makeRepository(call: Call, { repo, group, missing }: Resolved): Promise<string> {
  if (repo !== undefined) return repo;
  const image = missing.at(-1);
  if (group === undefined || image === undefined)
    throw denied(call, missing.join("/"), [Capability.CAP_IAM_GROUPS_CREATE]);
  let parent = group;
  for (const subgroup of missing.slice(0, -1)) {
    parent = await createGroupNamed(call, parent, subgroup).catch(
      nameTaken(`"${subgroup}" is an image here, so no image can have a name below it`),
    );
    await audit(call, { method: "registry.group.create", resource: parent, details: { name: subgroup } });
  }
  const made = await createRepoNamed(call, parent, image).catch(
    nameTaken(`"${image}" is a group of images here, so no image can have that name`),
  );
  await audit(call, { method: "registry.repo.create", resource: made, details: { name: image } });
  return made;
}

// Groups and repos share their names. Who pushes knows of neither: it is told what to change in the image's name.
function nameTaken(message: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof MoorageError && error.code === Code.AlreadyExists)
      throw new MoorageError(error.code, message, error.details);
    throw error;
  };
}

/** Records an upload session, bound to the repo and the identity. */
export const startUpload = pushCommand(
  "oci.startUpload",
  async (call: Call, input: { repo: string; upload: string }): Promise<void> => {
    const session = {
      uid: input.upload,
      repo: input.repo,
      identity: call.caller.identity,
      create_time: call.nowMs,
      update_time: call.nowMs,
    };
    await call.tx.insertInto("uploads").values(session).execute();
  },
);

/**
 * Makes a durable blob the repo's, and ends its session; a blob sent whole has none, and may be the first thing of its
 * repo. Answers the generation to keep: that of the copy that was there first. DENIED or NAME_UNKNOWN when the right or
 * the session's repo went away meanwhile.
 */
export const commitBlob = pushCommand(
  "oci.commitBlob",
  async (
    call: Call,
    input: StoredBlob & { name: string; upload: string; whole: boolean },
  ): Promise<{ generation: string }> => {
    const repo = input.whole
      ? await makeRepository(call, await pushPlace(call, input.name))
      : await repositoryFor(call, input.name, ...PUSH);
    await call.tx.deleteFrom("uploads").where("uid", "=", input.upload).execute();
    emitPush(call, { repository: input.name, repo, digest: input.digest, type: "blob" });
    return keepBlob(call, repo, input);
  },
);

/**
 * Makes a durable blob the repo's. Answers the generation to keep: that of the copy that was there first. Asks for no
 * rights: the caller did.
 */
export async function keepBlob(
  call: Call,
  repo: string,
  { digest, size, generation }: StoredBlob,
): Promise<{ generation: string }> {
  const values = { digest, generation, size, create_time: call.nowMs };
  await call.tx
    .insertInto("blobs")
    .values(values)
    .onConflict((on) => on.column("digest").doNothing())
    .execute();
  await link(call, repo, digest);
  return call.tx.selectFrom("blobs").select("generation").where("digest", "=", digest).executeTakeFirstOrThrow();
}

/**
 * Makes another repo's blob this repo's as well. False: the blob is not there, or the caller may not pull it from
 * there.
 */
export const mountBlob = pushCommand(
  "oci.mountBlob",
  async (
    call: Call,
    input: { name: string; from: string; digest: string; settings: PublicSettings },
  ): Promise<{ mounted: boolean }> => {
    const repo = await repositoryFor(call, input.name, ...PUSH);
    try {
      const source = await pullableRepository(call, input.settings, input.from, { digest: input.digest });
      if (!(await findBlob(call, source, input.digest))) return { mounted: false };
    } catch (error) {
      if (error instanceof RegistryError) return { mounted: false };
      throw error;
    }
    await link(call, repo, input.digest);
    emitPush(call, { repository: input.name, repo, digest: input.digest, type: "blob" });
    return { mounted: true };
  },
);

/**
 * Takes a blob from the repo. `unused` is the generation to remove when no repo has it any more. While a manifest of
 * the repo needs it, it stays, so that what can be pulled stays whole: `neededBy` is that manifest. BLOB_UNKNOWN when
 * it is not there.
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
    await audit(call, { method: "registry.blob.delete", resource: repo, details: { digest } });
    emitDelete(call, { repository: input.name, repo, digest, type: "blob" });
    const other = await call.tx
      .selectFrom("repo_blobs")
      .select("repo")
      .where("digest", "=", digest)
      .limit(1)
      .executeTakeFirst();
    if (other) return {};
    await call.tx.deleteFrom("blobs").where("digest", "=", digest).execute();
    return { unused: blob.generation };
  },
);

/** Ends sessions. Those that are not there are no error. */
export const dropUploads = command(
  "oci.dropUploads",
  async (call: Call, input: { uploads: string[] }): Promise<void> => {
    if (input.uploads.length > 0) await call.tx.deleteFrom("uploads").where("uid", "in", input.uploads).execute();
  },
);

async function link(call: Call, repo: string, digest: string): Promise<void> {
  const values = { repo, digest, create_time: call.nowMs, touch_time: call.nowMs };
  await call.tx
    .insertInto("repo_blobs")
    .values(values)
    .onConflict((on) => on.columns(["repo", "digest"]).doUpdateSet({ touch_time: call.nowMs }))
    .execute();
}
