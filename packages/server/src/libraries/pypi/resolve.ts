import type { Call } from "../../core/call.ts";
import { createTurns } from "../../lib/turns.ts";
import { pypiKey } from "../../lib/versions/index.ts";
import type { Row } from "../../store/index.ts";
import { filePages, type KeptRows, smallRows, versionPages } from "../requests/rows.ts";
import { type ArtifactName, artifactNamed } from "../artifacts/names.ts";
import { removedOf } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read, upstreamsOf } from "../requests/exchange.ts";
import { groupFor } from "../http/groups.ts";
import type { UpstreamDocument, WantedDocument } from "../upstreams/documents.ts";
import { unlessKept } from "../upstreams/errors.ts";
import { knownName, type KnownName } from "../upstreams/known.ts";
import { upstreamFor, type UpstreamSettings } from "../upstreams/settings.ts";
import { isProjectName, normalizedName } from "./names.ts";
import { BESIDE, type FileMetadata, type OfferedFile, offeredFiles } from "./offer.ts";
import { ACCEPTED, type ListedFile } from "./upstream-page.ts";

/** A project that a path names. */
export interface Named {
  group: readonly string[];
  project: string;
}

/** What is known of a project before its files are read. */
export interface KnownProject extends KnownName {
  normalized: string;
}

/** The same, with what the upstream lists. */
export interface FoundProject extends KnownProject {
  document: UpstreamDocument<"pypi.project"> | undefined;
}

/** What a path names, of the group and of its upstream. Throws 403, and 404 when neither can have it. */
export async function knownProject(
  call: Call,
  { ecosystem }: LibraryExchange,
  { group: path, project }: Named,
): Promise<KnownProject> {
  const group = await groupFor(call, path, ecosystem.read);
  if (!isProjectName(project)) throw noProject(project);
  const normalized = normalizedName(project);
  const name = { group, ecosystem, normalized };
  const known = await knownName(call, { ...name, name: normalized }, await upstreamFor(call, name));
  if (known === undefined) throw noProject(project);
  return { ...known, normalized };
}

function noProject(project: string): Error {
  return libraryError(404, `Not found: project ${project}`);
}

/**
 * The project with what its upstream lists. Throws 404, and 502 and 503 when the upstream fails and nothing is kept of
 * it.
 */
export async function listedIn(exchange: LibraryExchange, known: KnownProject): Promise<FoundProject> {
  const document = await documentOf(exchange, known);
  if (document === undefined && known.artifact === undefined) throw noProject(known.normalized);
  return { ...known, document };
}

/** Undefined when the upstream has no such project, or when it fails and the group has files. */
async function documentOf(
  exchange: LibraryExchange,
  { normalized, settings, artifact }: KnownProject,
): Promise<UpstreamDocument<"pypi.project"> | undefined> {
  if (settings === undefined) return undefined;
  const { documents } = upstreamsOf(exchange);
  return await unlessKept(artifact !== undefined, () =>
    documents.of(settings, normalized, wantedPage(settings, normalized)),
  );
}

/** Pages with some ten thousand files, which the largest projects have, are a few megabytes. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

function wantedPage({ url }: UpstreamSettings, project: string): WantedDocument<"pypi.project"> {
  return {
    kind: "pypi.project",
    args: { project },
    url: `${url}/${encodeURIComponent(project)}/`,
    accept: ACCEPTED,
    maxBytes: MAX_PAGE_BYTES,
  };
}

/** Versions that the group has removed of a project that it merges. */
export async function removedIn(
  exchange: LibraryExchange,
  { group, normalized, settings }: KnownProject,
): Promise<Set<string>> {
  if (settings?.isMerged !== true) return new Set();
  return await read(exchange, ({ tx }) => removedOf(tx, { group, ecosystem: exchange.ecosystem, normalized }));
}

/** One distribution that clients may ask for, before it is judged; undefined when there is none of that name. */
export async function offeredIn(
  exchange: LibraryExchange,
  found: FoundProject,
  filename: string,
): Promise<OfferedFile | undefined> {
  const { group, normalized, document } = found;
  const listed = await document?.entry(filename);
  const named = { group, ecosystem: exchange.ecosystem, normalized };
  const removed = await removedIn(exchange, found);
  // Read again, so that the project and its files are of one moment.
  const small = await smallRows(exchange, named);
  const rows = small === "large" ? await rowsAbout(exchange, named, { filename, listed }) : small;
  const offered = await offeredFiles({ ...rows, removed }, listed === undefined ? [] : [listed]);
  return offered.find((file) => file.filename === filename);
}

/** What is here of a large project that says something of one file: itself, its version, and the metadata of that. */
async function rowsAbout(
  exchange: LibraryExchange,
  name: ArtifactName,
  { filename, listed }: { filename: string; listed: ListedFile | undefined },
): Promise<KeptRows> {
  const artifact = await read(exchange, ({ tx }) => artifactNamed(tx, name));
  const about: KeptRows = { versions: [], files: [] };
  if (artifact === undefined) return about;
  const beside = new Set([filename, ...Object.values(BESIDE).map((ending) => filename + ending)]);
  const key = listed && pypiKey(listed.version);
  const turn = createTurns();
  for await (const files of filePages(exchange, artifact.uid)) {
    about.files.push(...files.filter((file) => beside.has(file.name) || metadataVersionOf(file) === listed?.version));
    await turn();
  }
  const uids = new Set(about.files.map(({ version }) => version));
  for await (const versions of versionPages(exchange, artifact.uid)) {
    about.versions.push(...versions.filter(({ uid, sort_key: each }) => uids.has(uid) || each === key));
    await turn();
  }
  return about;
}

/** Of which version a file is the metadata. */
function metadataVersionOf({ name, metadata }: Row<"artifact_files">): string | undefined {
  return name.endsWith(BESIDE.metadata) ? (JSON.parse(metadata) as FileMetadata).version : undefined;
}
