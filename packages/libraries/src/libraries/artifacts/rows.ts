import { ArtifactSchema, ArtifactVersionSchema } from "@moorage/api/messages";
import { notFound } from "@moorage/kernel/errors";
import { isUid, parentOf } from "@moorage/kernel/lib/uid";
import { type Database, type Row, statement } from "@moorage/kernel/store";

const selectArtifact = statement<Row<"artifacts">>("select * from artifacts where uid = ?", ["text"]);
const selectVersion = statement<Row<"artifact_versions">>("select * from artifact_versions where uid = ?", ["text"]);

/** The artifact with this uid. Throws NOT_FOUND. Checks no rights. */
export async function artifactRow(tx: Database, uid: string): Promise<Row<"artifacts">> {
  const [row] = isUid(uid) ? await selectArtifact(tx, uid) : [];
  if (row === undefined) throw notFound(ArtifactSchema.typeName, uid);
  return row;
}

/** The version with this uid, and its artifact. Throws NOT_FOUND. Checks no rights. */
export async function versionWithArtifact(
  tx: Database,
  uid: string,
): Promise<{ artifact: Row<"artifacts">; version: Row<"artifact_versions"> }> {
  const [version] = isUid(uid) ? await selectVersion(tx, uid) : [];
  if (version === undefined) throw notFound(ArtifactVersionSchema.typeName, uid);
  return { version, artifact: await artifactRow(tx, parentOf(uid)) };
}
