import { pypiKey } from "@moorage/kernel/lib/versions";
import { createTurns } from "@moorage/kernel/lib/turns";
import type { Row } from "@moorage/kernel/store";
import { ORIGIN } from "../ecosystem/origin.ts";
import type { VisibleFile } from "../artifacts/visible.ts";
import type { VersionFacts } from "../policies/judge.ts";
import { BESIDE, isBeside } from "./beside.ts";
import type { SimpleFile } from "./simple-pages.ts";
import type { ListedFile } from "./upstream-page.ts";

/** A distribution that clients may ask for: it is here, or its upstream lists it. */
export interface OfferedFile extends SimpleFile {
  version: string;
  /** Its content is here. */
  isKept: boolean;
  facts: VersionFacts;
  /** As its upstream lists it, if one does. */
  listed: ListedFile | undefined;
}

/** What of a project is here. */
export interface KeptRows {
  /** The earliest first. */
  versions: readonly Row<"artifact_versions">[];
  files: readonly Row<"artifact_files">[];
  /** Versions that the group has removed: nobody gets them any more, from anywhere. */
  removed: ReadonlySet<string>;
}

/** What is kept of a file beside its content, mostly of one of an upstream, as JSON in `artifact_files.metadata`. */
export interface FileMetadata {
  requiresPython?: string | undefined;
  /** Why it should not be chosen, as its upstream said when it was fetched. */
  yanked?: string | undefined;
  /** When the registry that it comes from got it, in milliseconds since 1970. */
  uploadMs?: number | undefined;
  /** When it was first listed to us, of a file without an upload time. */
  seenMs?: number | undefined;
  /** Of core metadata: the version that they are of. */
  version?: string | undefined;
  /** As the core metadata in the file have it, or it is, which may be empty. */
  license?: string | undefined;
}

/** What is kept of a version, as JSON in `artifact_versions.metadata`. */
export interface VersionMetadata {
  /**
   * As the core metadata of its first file have it, which may be empty; undefined where nobody has looked. Another file
   * of it may say another one.
   */
  license?: string;
}

/**
 * The distributions of a project, in the order of their versions: those that are here, and those that its upstream
 * lists beside them. A file that is here stays as it is, whatever the upstream says of it later, but for being yanked;
 * and a version that was published here has no files of an upstream.
 */
export async function offeredFiles(
  { versions, files, removed }: KeptRows,
  listed: readonly ListedFile[],
): Promise<OfferedFile[]> {
  const rows = new Map(files.map((file) => [file.name, file]));
  const listedByName = new Map(listed.map((file) => [file.name, file]));
  const byUid = new Map(versions.map((version) => [version.uid, version]));
  const licenses = licensesOf(versions, files);
  const kept = files.flatMap((file) => {
    const version = byUid.get(file.version);
    if (version === undefined || isBeside(file.name)) return [];
    const known = version.origin === ORIGIN.upstream ? listedByName.get(file.name) : undefined;
    return [keptFile(file, version, { rows, listed: known, licenses })];
  });
  const own = new Set(versions.flatMap((row) => (row.origin === ORIGIN.published ? [row.sort_key] : [])));
  const keys = new Map(versions.map(({ version, sort_key: key }) => [version, key]));
  const gone = new Set([...removed].map((version) => pypiKey(version)));
  const turn = createTurns();
  for (const { version } of listed) {
    if (!keys.has(version)) keys.set(version, pypiKey(version));
    await turn();
  }
  const isHere = new Set(kept.map(({ filename }) => filename));
  // `1.0` and `1.0.0` are one version. Source: PEP 440.
  const isOwn = (key: string): boolean => own.has(key) || gone.has(key);
  const others = listed
    .filter(({ name, version }) => !isHere.has(name) && !isOwn(keys.get(version) ?? ""))
    .map((file) => listedOnly(file, rows, licenses));
  // Within a version in the order of names: a page is the same whether a file of it is here or not.
  return [...kept, ...others]
    .map((file) => ({ file, key: keys.get(file.version) ?? "" }))
    .sort((a, b) => compare(a.key, b.key) || compare(a.file.filename, b.file.filename))
    .map(({ file }) => file);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

type Licenses = ReadonlyMap<string, string>;

/** The licenses of versions, as far as core metadata of one of their files are here. */
function licensesOf(versions: KeptRows["versions"], files: KeptRows["files"]): Licenses {
  const licenses = new Map<string, string>();
  for (const { name, metadata } of files) {
    if (!name.endsWith(BESIDE.metadata)) continue;
    const { license, version } = JSON.parse(metadata) as FileMetadata;
    if (license !== undefined && version !== undefined) licenses.set(version, license);
  }
  for (const { version, metadata } of versions) {
    const { license } = JSON.parse(metadata) as VersionMetadata;
    // A source distribution may have no metadata, and says less then than what stands beside a wheel.
    if (license !== undefined && (license !== "" || !licenses.has(version))) licenses.set(version, license);
  }
  return licenses;
}

interface Beside {
  rows: ReadonlyMap<string, Row<"artifact_files">>;
  listed: ListedFile | undefined;
  licenses: Licenses;
}

function keptFile(
  file: Row<"artifact_files">,
  { version, origin, yanked, publish_time: publishedMs }: Row<"artifact_versions">,
  { rows, listed, licenses }: Beside,
): OfferedFile {
  const said = JSON.parse(file.metadata) as FileMetadata;
  const isOwn = origin === ORIGIN.published;
  return {
    filename: file.name,
    version,
    isKept: true,
    listed,
    sums: { sha256: hexOf(file.digest) },
    sizeBytes: file.size,
    uploadTimeMs: said.uploadMs ?? (isOwn ? file.create_time : undefined),
    requiresPython: said.requiresPython ?? "",
    metadata: metadataOf(file.name, rows, listed),
    yanked: listed === undefined ? (yanked ?? said.yanked) : listed.yanked,
    provenance: provenanceOf(file.name, rows, listed),
    facts: {
      version,
      origin,
      publishMs: said.uploadMs ?? said.seenMs ?? publishedMs,
      license: said.license ?? licenses.get(version) ?? null,
    },
  };
}

function listedOnly(listed: ListedFile, rows: Beside["rows"], licenses: Licenses): OfferedFile {
  const { name, version, sums, sizeBytes, uploadMs, seenMs, requiresPython = "", yanked } = listed;
  return {
    filename: name,
    version,
    isKept: false,
    listed,
    sums,
    sizeBytes,
    uploadTimeMs: uploadMs,
    requiresPython,
    metadata: metadataOf(name, rows, listed),
    yanked,
    provenance: provenanceOf(name, rows, listed),
    facts: { version, origin: ORIGIN.upstream, publishMs: uploadMs ?? seenMs, license: licenses.get(version) ?? null },
  };
}

function metadataOf(name: string, rows: Beside["rows"], listed: ListedFile | undefined): string | true | undefined {
  const kept = rows.get(name + BESIDE.metadata);
  return kept === undefined ? listed?.metadata : hexOf(kept.digest);
}

function provenanceOf(name: string, rows: Beside["rows"], listed: ListedFile | undefined): string | undefined {
  const isThere = rows.has(name + BESIDE.provenance) || listed?.provenance !== undefined;
  return isThere ? encodeURIComponent(name + BESIDE.provenance) : undefined;
}

/**
 * What is judged of a row: a distribution, which has its version, or what stands beside one that is not here, which
 * says of which version it is.
 */
export function factsOf({ file, version: row }: VisibleFile): VersionFacts {
  const said = JSON.parse(file.metadata) as FileMetadata;
  const { license } = (
    row === undefined || said.license !== undefined ? said : JSON.parse(row.metadata)
  ) as VersionMetadata;
  return {
    version: row?.version ?? said.version ?? "",
    origin: row?.origin ?? ORIGIN.upstream,
    publishMs: said.uploadMs ?? said.seenMs ?? row?.publish_time ?? file.create_time,
    license: license ?? null,
  };
}

/** Whether the upstream says another sum of a file than that of the content that is here. */
export function isChanged({ isKept, sums, listed }: OfferedFile): boolean {
  return isKept && listed?.sums.sha256 !== undefined && listed.sums.sha256 !== sums.sha256;
}

function hexOf(digest: string): string {
  return digest.slice(digest.indexOf(":") + 1);
}
