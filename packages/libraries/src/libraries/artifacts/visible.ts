import { type Database, type Row, statement } from "@moorage/kernel/store";
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
  ["text", "text"],
);
const selectFile = statement<Row<"artifact_files">>("select * from artifact_files where artifact = ? and name = ?", [
  "text",
  "text",
]);
const selectByUid = statement<Row<"artifact_versions">>("select * from artifact_versions where uid = ?", ["text"]);

/** The versions of the artifact, the earliest first. */
export async function versionsOf(tx: Database, artifact: string): Promise<Row<"artifact_versions">[]> {
  return await selectVersions(tx, artifact);
}

/** So many rows are a page: of the largest metadata they are read in some ten milliseconds. */
export const PAGE_ROWS = 100;
const selectVersionPage = statement<Row<"artifact_versions">>(
  `select * from artifact_versions where parent = ? and (sort_key, uid) > (?, ?) order by sort_key, uid limit ${PAGE_ROWS}`,
);
const selectFilePage = statement<Row<"artifact_files">>(
  `select * from artifact_files where artifact = ? and name > ? order by name limit ${PAGE_ROWS}`,
);

/** The versions that follow this one, at most a page of them. */
export async function versionsAfter(
  tx: Database,
  artifact: string,
  last: Pick<Row<"artifact_versions">, "sort_key" | "uid"> | undefined,
): Promise<Row<"artifact_versions">[]> {
  return await selectVersionPage(tx, artifact, last?.sort_key ?? "", last?.uid ?? "");
}

/** The files that follow the one of this name, at most a page of them. */
export async function filesAfter(tx: Database, artifact: string, last: string): Promise<Row<"artifact_files">[]> {
  return await selectFilePage(tx, artifact, last);
}

/** One version, as its ecosystem writes it. */
export async function versionNamed(
  tx: Database,
  artifact: string,
  version: string,
): Promise<Row<"artifact_versions"> | undefined> {
  return version.includes("\0") ? undefined : (await selectVersion(tx, artifact, version))[0];
}

const selectFilesOfVersion = statement<Row<"artifact_files">>(
  "select * from artifact_files where artifact = ? and version = ? order by name",
);

/** The files of one version, by its uid. */
export async function filesOfVersion(
  tx: Database,
  artifact: string,
  version: string,
): Promise<Row<"artifact_files">[]> {
  return await selectFilesOfVersion(tx, artifact, version);
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
