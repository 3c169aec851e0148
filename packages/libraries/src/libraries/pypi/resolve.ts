import { createTurns } from "@moorage/kernel/lib/turns";
import { pypiKey } from "@moorage/kernel/lib/versions";
import type { Row } from "@moorage/kernel/store";
import { type ArtifactName, artifactNamed } from "../artifacts/names.ts";
import type { Found, OfferedDocument } from "../requests/document.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { type Named, removedIn } from "../requests/resolve.ts";
import { filePages, type KeptRows, smallRows, versionPages } from "../requests/rows.ts";
import { isProjectName, normalizedName } from "./names.ts";
import { BESIDE } from "./beside.ts";
import { type FileMetadata, type OfferedFile, offeredFiles } from "./offer.ts";
import { projectDocument } from "./tasks.ts";
import { ACCEPTED, type ListedFile, type ProjectKind } from "./upstream-page.ts";

/** A project that a path names. */
export interface ProjectPath {
  group: readonly string[];
  project: string;
}

/** A project, with what its upstream lists. */
type FoundProject = Found<ProjectKind>;

/** What the path of a project names. */
export function projectNamed({ group, project }: ProjectPath): Named {
  const normalized = normalizedName(project);
  return {
    group,
    name: normalized,
    normalized,
    missing: `Not found: project ${project}`,
    mayAsk: () => isProjectName(project),
  };
}

/** Pages with some ten thousand files, which the largest projects have, are a few megabytes. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

/** The page of a project. Source: PEP 503, 691. */
export function offeredProject(project: string): (upstream: { url: string }) => OfferedDocument<ProjectKind> {
  return ({ url }) => ({
    name: project,
    wanted: {
      kind: projectDocument,
      args: { project },
      url: `${url}/${encodeURIComponent(project)}/`,
      accept: ACCEPTED,
      maxBytes: MAX_PAGE_BYTES,
    },
  });
}

/** One distribution that clients may ask for, before it is judged; undefined when there is none of that name. */
export async function offeredIn(
  exchange: LibraryExchange,
  found: FoundProject,
  filename: string,
): Promise<OfferedFile | undefined> {
  const {
    group,
    named: { normalized },
    document,
  } = found;
  const listed = await document?.entry(filename);
  const place = { group, ecosystem: exchange.ecosystem, normalized };
  const removed = await removedIn(exchange, found);
  // Read again, so that the project and its files are of one moment.
  const small = await smallRows(exchange, place);
  const rows = small === "large" ? await rowsAbout(exchange, place, { filename, listed }) : small;
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
