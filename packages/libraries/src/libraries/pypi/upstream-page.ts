import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { createTurns } from "@moorage/kernel/lib/turns";
import { distributionOf, normalizedVersion } from "./filenames.ts";
import { normalizedName } from "./names.ts";
import { MAX_JSON_VALUES } from "../reading/limits.ts";
import type { DocumentKind, DocumentReader } from "../ecosystem/document-kind.ts";
import type { Entry } from "./upstream-links.ts";

/** The sums of a file that its index says, in lower-case hexadecimal. */
export type Sums = Partial<Record<(typeof SUMS)[number], string>>;

/** A file of a project as its upstream lists it. What the upstream does not say is left out. */
export interface ListedFile {
  name: string;
  /** As its name has it, normalized. */
  version: string;
  /** Where the upstream has it: http or https, absolute. */
  url: string;
  sums: Sums;
  sizeBytes?: number;
  /** When it was uploaded, in milliseconds since 1970. Source: PEP 700. */
  uploadMs?: number;
  /** When it was first listed to us, of a file without an upload time. */
  seenMs?: number;
  /** Source: PEP 503. */
  requiresPython?: string;
  /** Why it should not be chosen, which may be empty. Source: PEP 592. */
  yanked?: string;
  /** Its core metadata are beside it, with this SHA-256, or true where the index has none. Sources: PEP 658, 714. */
  metadata?: string | true;
  /** Where its provenance is. Source: PEP 740. */
  provenance?: string;
}

/** A project as its upstream lists it. */
interface ListedProject {
  files: readonly ListedFile[];
}

/**
 * The project, in which each file without an upload time has the time at which it was first seen: `nowMs`, but for
 * files that `previous` has, which is how the upstream listed the project before.
 */
function withTimesSeen({ files }: ListedProject, previous: ListedProject | undefined, nowMs: number): ListedProject {
  const seen = new Map(previous?.files.map(({ name, seenMs }) => [name, seenMs]));
  return {
    files: files.map((file) =>
      file.uploadMs === undefined ? { ...file, seenMs: seen.get(file.name) ?? nowMs } : file,
    ),
  };
}

/** What an upstream lists of a project. `project`: normalized. */
export type ProjectKind = DocumentKind<ListedProject, { project: string }, Record<string, never>, ListedFile>;

/** How the page of a project is read. */
export const projectKind: DocumentReader<ListedProject, { project: string }, Record<string, never>, ListedFile> = {
  async parse(bytes, { project }, { headers, url, nowMs, previous }) {
    const page = { bytes, contentType: headers["content-type"] ?? "", url };
    return withTimesSeen(await listedProject(page, project), previous, nowMs);
  },
  parts: {
    split: ({ files }) => ({ head: {}, entries: files.map((file) => [file.name, file]) }),
    join: ({ entries }) => ({ files: entries.map(([, file]) => file) }),
  },
};

/** The page of an upstream, as it arrived. */
interface UpstreamPage {
  bytes: Uint8Array;
  contentType: string;
  /** That of the answer, after redirects: links are relative to it. */
  url: string;
}

/** What clients of an upstream accept: JSON before HTML. Source: PEP 691. */
export const ACCEPTED =
  "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

const SUMS = ["sha512", "sha256", "sha1", "md5"] as const;
const SUM_CHARS: Readonly<Record<(typeof SUMS)[number], number>> = { sha512: 128, sha256: 64, sha1: 40, md5: 32 };
const MAX_DEPTH = 16;
/** The projects with the most files have some ten thousand. */
const MAX_FILES = 200_000;
const MAX_TEXT_CHARS = 1_000;
const MAX_URL_CHARS = 4_000;
/** Links are relative to an address of this length at most, so that a page does not grow much by them. */
const MAX_BASE_CHARS = 500;

/**
 * Reads the page of a project of an upstream, in JSON or HTML. `project`: normalized. Left out are files that are no
 * wheels or source distributions of this project, and those with a sum that is none: what could be served of them
 * could not be checked. Throws an Error that says why the page is not one of this project. Sources: PEP 503, 691.
 */
export async function listedProject(page: UpstreamPage, project: string): Promise<ListedProject> {
  if (page.url.length > MAX_BASE_CHARS)
    throw new Error(`the page is at an address of more than ${MAX_BASE_CHARS} characters`);
  const [type = ""] = page.contentType.toLowerCase().split(";");
  const entries = await entriesOf(page, type.trim(), project);
  const turn = createTurns();
  const files = new Map<string, ListedFile>();
  for (const entry of entries) {
    const file = listedFile(entry, page.url, project);
    // Of two files with one name the first counts, as clients take it.
    if (file !== undefined && !files.has(file.name)) files.set(file.name, file);
    if (files.size > MAX_FILES) throw new Error(`the page lists more than ${MAX_FILES} files`);
    await turn();
  }
  return { files: [...files.values()] };
}

async function entriesOf(page: UpstreamPage, type: string, project: string): Promise<readonly Entry[]> {
  if (/[+/]json$/.test(type)) return jsonEntries(page, project);
  if (!/[+/]html$/.test(type)) throw new Error(`the answer is ${type || "of no type"}, not a page of files`);
  // The reader of HTML is loaded with the first page that needs it.
  const { linksOf } = await import("./upstream-links.ts");
  const { entries, version } = await linksOf(page.bytes, page.url);
  requireVersion(version);
  return entries;
}

function jsonEntries({ bytes }: UpstreamPage, project: string): readonly Entry[] {
  let page: unknown;
  try {
    page = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(), MAX_DEPTH, MAX_JSON_VALUES);
  } catch (cause) {
    throw new Error("the page is not JSON", { cause });
  }
  if (!isObject(page) || !Array.isArray(page["files"])) throw new Error("the page has no list of files");
  const { meta, name } = page;
  requireVersion(isObject(meta) ? meta["api-version"] : undefined);
  if (typeof name === "string" && normalizedName(name) !== project)
    throw new Error(`the page is of another project than ${project}`);
  return (page["files"] as unknown[]).filter(isObject);
}

/** Throws for a page of another major version, whose meaning is not known. Source: PEP 629. */
function requireVersion(version: unknown): void {
  if (typeof version === "string" && !/^1(?:\.|$)/.test(version.trim()))
    throw new Error(`the page is of version ${version.slice(0, 20)} of the simple API, not of version 1`);
}

function listedFile(entry: Entry, base: string, project: string): ListedFile | undefined {
  const { filename: name } = entry;
  const [url, sums] = [urlOf(entry["url"], base), sumsOf(entry["hashes"])];
  const said = typeof name === "string" ? distributionOf(name, project) : undefined;
  if (typeof name !== "string" || said === undefined || url === undefined || sums === undefined) return undefined;
  const { size, yanked } = entry;
  const uploadMs = timeOf(entry["upload-time"]);
  const requiresPython = textOf(entry["requires-python"]);
  const metadata = metadataOf(entry["core-metadata"] ?? entry["dist-info-metadata"]);
  const provenance = urlOf(entry["provenance"], base);
  return {
    name,
    version: normalizedVersion(said.version),
    url,
    sums,
    ...(typeof size === "number" && Number.isSafeInteger(size) && size >= 0 && { sizeBytes: size }),
    ...(uploadMs !== undefined && { uploadMs }),
    ...(requiresPython !== undefined && { requiresPython }),
    ...(yanked !== undefined && yanked !== null && yanked !== false && { yanked: textOf(yanked) ?? "" }),
    ...(metadata !== undefined && { metadata }),
    ...(provenance !== undefined && { provenance }),
  };
}

function urlOf(given: unknown, base: string): string | undefined {
  if (typeof given !== "string" || given === "" || given.length > MAX_URL_CHARS) return undefined;
  const url = URL.parse(given, base);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  url.hash = "";
  return url.href;
}

function sumsOf(given: unknown): Sums | undefined {
  if (given === undefined || given === null) return {};
  if (!isObject(given)) return undefined;
  const sums: Sums = {};
  for (const name of SUMS) {
    const sum = given[name];
    if (sum === undefined) continue;
    if (!isSum(sum, name)) return undefined;
    sums[name] = sum.toLowerCase();
  }
  return sums;
}

function isSum(sum: unknown, name: (typeof SUMS)[number]): sum is string {
  return typeof sum === "string" && sum.length === SUM_CHARS[name] && /^[0-9a-f]+$/i.test(sum);
}

function metadataOf(given: unknown): string | true | undefined {
  if (given === true) return true;
  if (!isObject(given)) return undefined;
  const { sha256 } = given;
  return isSum(sha256, "sha256") ? sha256.toLowerCase() : sha256 === undefined ? true : undefined;
}

/** One line of text, as far as it may be shown; undefined when there is none. */
function textOf(given: unknown): string | undefined {
  if (typeof given !== "string") return undefined;
  const text = given
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim()
    .slice(0, MAX_TEXT_CHARS);
  return text === "" ? undefined : text;
}

function timeOf(given: unknown): number | undefined {
  // Source: PEP 700: `yyyy-mm-ddThh:mm:ss.ffffffZ`, with at most six digits of a second.
  if (typeof given !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(given))
    return undefined;
  const ms = Date.parse(given);
  return Number.isNaN(ms) ? undefined : ms;
}
