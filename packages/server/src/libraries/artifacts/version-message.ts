import { create } from "@bufbuild/protobuf";
import { type ArtifactVersion, ArtifactVersionSchema } from "@moorage/api/messages";
import type { Cells } from "../../core/stored.ts";
import { timestamp } from "../../lib/timestamps.ts";
import type { Row } from "../../store/index.ts";

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
  "sort_key",
] as const satisfies readonly (keyof Row<"artifact_versions">)[];

/** The message of a version. `name`: that of the library. `cells`: its columns, in the order of VERSION_COLUMNS. */
export function versionMessage(name: string, cells: Cells): ArtifactVersion {
  const [uid, version, description, createMs, updateMs, bytes, yanked, deprecated] = cells;
  return create(ArtifactVersionSchema, {
    uid: String(uid),
    name,
    version: String(version),
    description: String(description),
    createTime: timestamp(Number(createMs)),
    updateTime: timestamp(Number(updateMs)),
    sizeBytes: BigInt(Number(bytes)),
    yanked: yanked !== null,
    yankReason: yanked === null ? "" : String(yanked),
    deprecation: deprecated === null ? "" : String(deprecated),
  });
}

/** The same of a row. */
export function messageOfVersion(name: string, row: Row<"artifact_versions">): ArtifactVersion {
  return versionMessage(
    name,
    VERSION_COLUMNS.map((column) => row[column]),
  );
}
