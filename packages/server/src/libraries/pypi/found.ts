import type { Call } from "../../core/call.ts";
import { Code, MoorageError } from "../../errors.ts";
import type { Row } from "../../store/index.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { filesOf, removedOf, versionsOf } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../http/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { type Gate, gateFor } from "../policies/gate.ts";
import type { DocumentAdapter, UpstreamDocument } from "../upstreams/documents.ts";
import { upstreamFor, type UpstreamSettings } from "../upstreams/settings.ts";
import { isProjectName, normalizedName } from "./names.ts";
import { type OfferedFile, offeredFiles } from "./offered.ts";
import { ACCEPTED, listedProject, type ListedProject, withTimesSeen } from "./upstream-page.ts";

/** A project that a path names. */
export interface Named {
  group: readonly string[];
  project: string;
}

/** What is known of a project before its files are read. */
export interface KnownProject {
  /** The uid of the group. */
  group: string;
  normalized: string;
  artifact: Row<"artifacts"> | undefined;
  gate: Gate;
  /** The upstream that is asked for it; undefined when nobody is. */
  settings: UpstreamSettings | undefined;
  /** How many versions the group has removed under a name that it merges: those of the upstream are not served. */
  removed: number;
}

/** The same, with what the upstream lists. */
export interface FoundProject extends KnownProject {
  document: UpstreamDocument<ListedProject> | undefined;
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
  const [artifact, settings] = [await artifactNamed(call.tx, name), await upstreamFor(call, name)];
  if (artifact === undefined && settings === undefined) throw noProject(project);
  const removed = settings?.isMerged === true ? await removedOf(call.tx, name) : null;
  const gate = await gateFor(call, { ...name, name: normalized });
  return { group, normalized, artifact, settings, removed: removed?.size ?? 0, gate };
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
  { deps }: LibraryExchange,
  { normalized, settings, artifact }: KnownProject,
): Promise<UpstreamDocument<ListedProject> | undefined> {
  if (settings === undefined) return undefined;
  try {
    return await deps.upstreams.documents.of(settings, normalized, pageAdapter(settings, normalized));
  } catch (error) {
    if (artifact === undefined || !(error instanceof MoorageError) || error.code !== Code.Unavailable) throw error;
    return undefined;
  }
}

/** Pages with some ten thousand files, which the largest projects have, are a few megabytes. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

function pageAdapter({ url }: UpstreamSettings, project: string): DocumentAdapter<ListedProject> {
  return {
    url: `${url}/${encodeURIComponent(project)}/`,
    accept: ACCEPTED,
    maxBytes: MAX_PAGE_BYTES,
    async parse(bytes, { headers, url: answered, nowMs, previous }) {
      const contentType = headers["content-type"];
      const page = { bytes, contentType: typeof contentType === "string" ? contentType : "", url: answered };
      return withTimesSeen(await listedProject(page, project), previous, nowMs);
    },
  };
}

/** What clients may ask for of a project, before anything is judged: see offeredFiles. */
export async function offeredIn(
  exchange: LibraryExchange,
  { group, normalized, settings, document }: FoundProject,
): Promise<OfferedFile[]> {
  const { files: listed } = (await document?.value()) ?? { files: [] };
  // Read again, so that the project and its files are of one moment.
  const kept = await read(exchange, async ({ tx }) => {
    const name = { group, ecosystem: exchange.ecosystem, normalized };
    const artifact = await artifactNamed(tx, name);
    return {
      versions: artifact === undefined ? [] : await versionsOf(tx, artifact.uid),
      files: artifact === undefined ? [] : await filesOf(tx, artifact.uid),
      removed: settings?.isMerged === true ? await removedOf(tx, name) : new Set<string>(),
    };
  });
  return await offeredFiles(kept, listed);
}
