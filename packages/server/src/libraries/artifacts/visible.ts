import { type Database, type Row, statement } from "../../store/index.ts";
import type { ArtifactName } from "./names.ts";

// What clients are shown of an artifact, in metadata and by direct URL, is read here and nowhere else: a rule that
// hides versions belongs here.

/** A file, with its version; undefined for a file of the artifact as a whole. */
export interface VisibleFile {
  file: Row<"artifact_files">;
  version: Row<"artifact_versions"> | undefined;
}

const selectVersions = statement<Row<"artifact_versions">>(
  "select * from artifact_versions where parent = ? order by sort_key, uid",
);
const selectVersion = statement<Row<"artifact_versions">>(
  "select * from artifact_versions where parent = ? and version = ?",
);
const selectFiles = statement<Row<"artifact_files">>("select * from artifact_files where artifact = ? order by name");
const selectFile = statement<Row<"artifact_files">>("select * from artifact_files where artifact = ? and name = ?", [
  "text",
  "text",
]);
const selectByUid = statement<Row<"artifact_versions">>("select * from artifact_versions where uid = ?", ["text"]);

/** The versions of the artifact, the earliest first. */
export async function versionsOf(tx: Database, artifact: string): Promise<Row<"artifact_versions">[]> {
  return await selectVersions(tx, artifact);
}

/** One version, as its ecosystem writes it. */
export async function versionNamed(
  tx: Database,
  artifact: string,
  version: string,
): Promise<Row<"artifact_versions"> | undefined> {
  return version.includes("\0") ? undefined : (await selectVersion(tx, artifact, version))[0];
}

/** The files of the artifact, by their names. */
export async function filesOf(tx: Database, artifact: string): Promise<Row<"artifact_files">[]> {
  return await selectFiles(tx, artifact);
}

/** One file of the artifact. */
export async function fileNamed(tx: Database, artifact: string, name: string): Promise<VisibleFile | undefined> {
  const [file] = name.includes("\0") ? [] : await selectFile(tx, artifact, name);
  if (file === undefined) return undefined;
  const [version] = file.version === "" ? [] : await selectByUid(tx, file.version);
  return { file, version };
}

const selectRemoved = statement<{ version: string }>(
  "select version from removed_versions where parent = ? and ecosystem = ? and name = ?",
  ["text", "bigint", "text"],
);

/** The versions that the group has published under a name and removed: nobody gets them any more, from anywhere. */
export async function removedOf(tx: Database, { group, ecosystem, normalized }: ArtifactName): Promise<Set<string>> {
  return new Set((await selectRemoved(tx, group, ecosystem.number, normalized)).map(({ version }) => version));
}
