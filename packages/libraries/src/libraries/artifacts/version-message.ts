import { create } from "@bufbuild/protobuf";
import { type ArtifactVersion, ArtifactVersionSchema } from "@moorage/api/messages";
import type { Cells } from "@moorage/kernel/core/stored-answer";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import type { Database, Row } from "@moorage/kernel/store";
import { ORIGIN } from "./names.ts";
import { originsOf } from "./origins.ts";

/** The columns that the message of a version is made of; the last one orders versions. */
export const VERSION_COLUMNS = [
  "uid",
  "version",
  "description",
  "create_time",
  "update_time",
  "size_bytes",
  "yanked",
  "deprecated",
  "origin",
  "publish_time",
  "publisher",
  "sort_key",
] as const satisfies readonly (keyof Row<"artifact_versions">)[];

/** An artifact, as far as messages of its versions need it. */
type Named = Pick<Row<"artifacts">, "uid" | "parent" | "ecosystem" | "name" | "normalized">;

/** The messages of versions of an artifact. `rows`: their columns, each in the order of VERSION_COLUMNS. */
export async function versionMessages(
  db: Database,
  artifact: Named,
  rows: readonly Cells[],
): Promise<ArtifactVersion[]> {
  const origins = await originsOf(
    db,
    artifact,
    rows.map((cells) => ({
      version: String(cells[1]),
      origin: Number(cells[8]),
      publish_time: Number(cells[9]),
    })),
  );
  return rows.map(
    ([uid, version, description, createMs, updateMs, bytes, yanked, deprecated, origin, , publisher], at) =>
      create(ArtifactVersionSchema, {
        ...origins[at],
        uid: String(uid),
        name: artifact.name,
        version: String(version),
        description: String(description),
        createTime: timestamp(Number(createMs)),
        updateTime: timestamp(Number(updateMs)),
        sizeBytes: BigInt(Number(bytes)),
        yanked: yanked !== null,
        yankReason: yanked === null ? "" : String(yanked),
        deprecation: deprecated === null ? "" : String(deprecated),
        publisher: Number(origin) === ORIGIN.published ? String(publisher) : "",
      }),
  );
}

/** The same of one row. */
export async function messageOfVersion(
  db: Database,
  artifact: Named,
  row: Row<"artifact_versions">,
): Promise<ArtifactVersion> {
  const [message] = await versionMessages(db, artifact, [VERSION_COLUMNS.map((column) => row[column])]);
  return message ?? create(ArtifactVersionSchema);
}
