import { ArtifactSchema, ArtifactVersionSchema } from "@moorage/api/messages";
import type { StoredBlob } from "@moorage/kernel/blobs";
import type { Call } from "@moorage/kernel/core/call";
import { alreadyExists } from "@moorage/kernel/errors";
import { newUid } from "@moorage/kernel/lib/uid";
import { recordBlob } from "@moorage/registry/oci";
import { addContent, removeContent, requireCount } from "@moorage/registry/registry";
import { addToAncestors, removeFromAncestors, type Row, statement } from "@moorage/kernel/store";
import { kindOf } from "../ecosystem/ecosystem.ts";
import type { ArtifactChange } from "../ecosystem/plan.ts";
import { type ArtifactName, artifactNamed, ORIGIN } from "./names.ts";
import { removeWords, writeWords } from "./words.ts";

// What commands write artifacts with, once they have checked the rights. Each of them ends with `settleArtifact`.

/** A new version. */
export interface NewVersion {
  version: string;
  /** A text whose order is that of the ecosystem's versions: see lib/versions. */
  sortKey: string;
  description: string;
  /** What clients read of it, as JSON. */
  metadata: string;
  /** Defaults to published. */
  origin?: (typeof ORIGIN)[keyof typeof ORIGIN];
  /** When it was published, in milliseconds since 1970. Defaults to now. */
  publishMs?: number;
  /** The version of CUDA that it was built for, as digits. Defaults to none. */
  cuda?: string;
  /** Why it is deprecated. Defaults to null: it is not. */
  deprecated?: string | null;
}

/** A new file, whose content is in the blob store. */
export interface NewFile extends StoredBlob {
  name: string;
  /** The sums in hex; that in `digest` is a SHA-256. */
  md5: string;
  sha1: string;
  sha512: string;
  /** What clients read of it, as JSON. Defaults to none. */
  metadata?: string;
}

/** The artifact of that name in the group, which is made when there is none. `name`: as its publisher writes it. */
export async function takeArtifact(
  call: Call,
  { group, ecosystem, normalized }: ArtifactName,
  name: string,
): Promise<Row<"artifacts">> {
  const found = await artifactNamed(call.tx, { group, ecosystem, normalized });
  if (found !== undefined) return found;
  const row: Row<"artifacts"> = {
    uid: newUid(group),
    parent: group,
    ecosystem: ecosystem.number,
    name,
    normalized,
    description: "",
    latest_version: "",
    version_count: 0,
    size_bytes: 0,
    revision: 0,
    state: "{}",
    create_time: call.nowMs,
    update_time: call.nowMs,
  };
  const { numInsertedOrUpdatedRows } = await call.tx
    .insertInto("artifacts")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 0n) throw alreadyExists(ArtifactSchema.typeName, name);
  await addToAncestors(call.tx, kindOf(ecosystem.number), row.uid, name);
  await requireCount(call, "libraries", row.uid);
  await writeWords(call.tx, row.uid);
  return row;
}

const selectRemoved = statement<{ version: string }>(
  "select version from removed_versions where parent = ? and ecosystem = ? and name = ? and version = ?",
);

/** Adds a version. Throws ALREADY_EXISTS when there is, or ever was, one of that number. */
export async function addVersion(
  call: Call,
  { uid, parent, ecosystem, normalized, name }: Row<"artifacts">,
  { version, sortKey, description, metadata, ...given }: NewVersion,
): Promise<Row<"artifact_versions">> {
  const { origin = ORIGIN.published, publishMs = call.nowMs, cuda = "", deprecated = null } = given;
  const row: Row<"artifact_versions"> = {
    uid: newUid(uid),
    parent: uid,
    version,
    sort_key: sortKey,
    description,
    size_bytes: 0,
    origin,
    cuda,
    yanked: null,
    deprecated,
    metadata,
    publisher: call.caller.identity,
    publish_time: publishMs,
    create_time: call.nowMs,
    update_time: call.nowMs,
  };
  const [removed] = await selectRemoved(call.tx, parent, ecosystem, normalized, version);
  const inserted =
    removed === undefined &&
    (await call.tx
      .insertInto("artifact_versions")
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst());
  if (inserted === false || inserted.numInsertedOrUpdatedRows === 0n)
    throw alreadyExists(ArtifactVersionSchema.typeName, `${name}@${version}`);
  return row;
}

/**
 * Adds a file, of a version by its uid, or of the artifact as a whole with an empty one. Answers the generation of the
 * content to retain (see recordBlob). Throws ALREADY_EXISTS when the artifact has a file of that name.
 */
export async function addFile(
  call: Call,
  artifact: Pick<Row<"artifacts">, "uid">,
  version: string,
  { name, size, digest, generation, md5, sha1, sha512, metadata = "{}" }: NewFile,
): Promise<{ generation: string }> {
  const { numInsertedOrUpdatedRows } = await call.tx
    .insertInto("artifact_files")
    .values({
      artifact: artifact.uid,
      name,
      version,
      size,
      digest,
      md5,
      sha1,
      sha512,
      metadata,
      create_time: call.nowMs,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 0n) throw alreadyExists("moorage.libraries.v2.File", name);
  await addContent(call, { kind: "file", place: artifact.uid, digest, size });
  return await recordBlob(call, { digest, size, generation });
}

/** Removes a version with its files, for ever: none of its number is published again. */
export async function removeVersion(
  call: Call,
  artifact: Row<"artifacts">,
  { uid, version, origin }: Row<"artifact_versions">,
): Promise<void> {
  const files = await call.tx
    .deleteFrom("artifact_files")
    .where("artifact", "=", artifact.uid)
    .where("version", "=", uid)
    .returning("digest")
    .execute();
  await noteGone(call, artifact.uid, files);
  await call.tx.deleteFrom("artifact_versions").where("uid", "=", uid).execute();
  if (origin !== ORIGIN.published) return;
  const { parent, ecosystem, normalized: name } = artifact;
  await call.tx
    .insertInto("removed_versions")
    .values({ parent, ecosystem, name, version, create_time: call.nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Removes an artifact with all of its versions. */
export async function removeArtifact(call: Call, artifact: Row<"artifacts">): Promise<void> {
  const { uid, parent, ecosystem, normalized, name } = artifact;
  const versions = await call.tx
    .selectFrom("artifact_versions")
    .select("version")
    .where("parent", "=", uid)
    .where("origin", "=", ORIGIN.published)
    .execute();
  for (const { version } of versions)
    await call.tx
      .insertInto("removed_versions")
      .values({ parent, ecosystem, name: normalized, version, create_time: call.nowMs })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  const files = await call.tx.deleteFrom("artifact_files").where("artifact", "=", uid).returning("digest").execute();
  await noteGone(call, uid, files);
  await call.tx.deleteFrom("artifact_versions").where("parent", "=", uid).execute();
  await call.tx.deleteFrom("artifacts").where("uid", "=", uid).execute();
  await removeWords(call.tx, uid);
  await removeFromAncestors(call.tx, kindOf(ecosystem), uid, name);
}

async function noteGone({ tx }: Call, artifact: string, files: readonly { digest: string }[]): Promise<void> {
  await removeContent(
    tx,
    "file",
    artifact,
    files.map(({ digest }) => digest),
  );
}

const selectSums = statement<{ versions: number; bytes: number }>(
  "select (select count(*) from artifact_versions as v where v.parent = a.uid) as versions, (select coalesce(sum(f.size), 0) from artifact_files as f where f.artifact = a.uid) as bytes from artifacts as a where a.uid = ?",
);
const updateVersionSize = statement(
  "update artifact_versions set size_bytes = (select coalesce(sum(f.size), 0) from artifact_files as f where f.artifact = ? and f.version = ?), update_time = ? where uid = ?",
);

/** What `settleArtifact` changes; what is left out stays. */
interface Settled extends ArtifactChange {
  /** The uid of the version that was added or got a file: its size is counted. */
  version?: string;
}

/** Counts versions and bytes, and begins a new revision: the end of every change of an artifact. */
export async function settleArtifact(
  call: Call,
  artifact: Row<"artifacts">,
  { description, latestVersion, state, version }: Settled = {},
): Promise<Row<"artifacts">> {
  if (version !== undefined) await updateVersionSize(call.tx, artifact.uid, version, call.nowMs, version);
  const [sums] = await selectSums(call.tx, artifact.uid);
  const changes = {
    version_count: Number(sums?.versions ?? 0),
    size_bytes: Number(sums?.bytes ?? 0),
    revision: artifact.revision + 1,
    update_time: call.nowMs,
    ...(description !== undefined && { description }),
    ...(latestVersion !== undefined && { latest_version: latestVersion }),
    ...(state !== undefined && { state }),
  };
  await call.tx.updateTable("artifacts").set(changes).where("uid", "=", artifact.uid).execute();
  return { ...artifact, ...changes };
}
