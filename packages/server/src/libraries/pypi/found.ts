import type { Call } from "../../core/call.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { filesOf, removedOf, versionsOf } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../http/exchange.ts";
import { groupFor } from "../http/groups.ts";
import type { DocumentAdapter, UpstreamDocument } from "../upstreams/documents.ts";
import { unlessKept } from "../upstreams/errors.ts";
import { knownName, type KnownName } from "../upstreams/known.ts";
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
export interface KnownProject extends KnownName {
  normalized: string;
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
  { deps }: LibraryExchange,
  { normalized, settings, artifact }: KnownProject,
): Promise<UpstreamDocument<ListedProject> | undefined> {
  if (settings === undefined) return undefined;
  const { documents } = deps.upstreams;
  return await unlessKept(artifact !== undefined, () =>
    documents.of(settings, normalized, pageAdapter(settings, normalized)),
  );
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
