import { isImageConfigType, isIndexType } from "@moorage/kernel/core/media-types";
import type { GatedImage, UnknownImage } from "@moorage/registry/registry";
import { type Database, statement } from "@moorage/kernel/store";
import { countingOf, isCutOff, packageSources } from "../attached/sources.ts";
import { isFileSystem } from "../catalog/queue.ts";
import { CATALOG_STATE, LAYERS } from "../catalog/rows.ts";
import type { Unread } from "../catalog/types.ts";
import { isAnyUnmatched } from "../images/image-packages.ts";
import { FeedStates } from "./compared-feeds.ts";
import { coverageOf, describeUncovered, type PackageCoverage } from "./packages.ts";

/** The bytes of a manifest. */
export interface ManifestContent {
  mediaType: string;
  content: Uint8Array;
}

/**
 * What is known of an image of a repo. `NOT_READ`: not what it holds, or not all of it. `NO_DATA`: what it holds, and
 * no feed covers some of it. `READ`: its findings are known.
 */
export interface ImageKnowledge extends Omit<UnknownImage, "state"> {
  state: UnknownImage["state"] | "READ";
  /** Its packages, as far as they are known, and which of them feeds cover. */
  coverage: PackageCoverage;
  /** The sources whose packages these are. */
  sources: readonly string[];
  /** The files of its layers that could not be read or identified, the first thousand of them. */
  files: Unread[];
  /** How many such files there are. */
  unreadFiles: number;
}

const MAX_REASON = 300;
/** The type of purls of what is of no ecosystem. Source: the types of purl-spec. */
export const NO_ECOSYSTEM = "generic";
const NOTHING: PackageCoverage = { packages: 0, uncovered: [], covered: [], waiting: 0, unreadable: 0, spaces: [] };

/**
 * What is known of an image of a repo: the one judgment that lists, reports, diffs and gates go by. It is known when
 * its layers were read as a whole, or somebody who may write advisories attached an SBOM to it, a package was found,
 * and all packages were compared with records of feeds that cover them. Undefined for an index, and for what is no
 * image. `feeds`: what the call has read of feeds, for images that are looked at together.
 */
export async function knowledgeOf(
  tx: Database,
  { repo, digest }: GatedImage,
  manifest: ManifestContent | undefined,
  feeds: FeedStates = new FeedStates(tx),
): Promise<ImageKnowledge | undefined> {
  const known: ImageKnowledge = {
    digest,
    state: "READ",
    reason: "",
    waits: false,
    coverage: NOTHING,
    sources: [],
    files: [],
    unreadFiles: 0,
  };
  const unknown = (reason: string, waits = false, state: UnknownImage["state"] = "NOT_READ"): ImageKnowledge => ({
    ...known,
    state,
    reason: reason.slice(0, MAX_REASON).toWellFormed(),
    waits,
  });
  if (manifest === undefined) return unknown("it is not stored here");
  if (isIndexType(manifest.mediaType) || !isImage(manifest.content)) return undefined;
  // What is answered from the source of a mirror is copied meanwhile.
  if ((await selectHeld(tx, repo, digest)).length === 0)
    return unknown("it is not stored here yet: it is copied from its source", true);
  // Before the sources: where the reading ends between the two, it waits still, instead of having found nothing.
  const [catalog] = await selectCatalog(tx, digest);
  const all = await packageSources(tx, { repo, digest });
  const sources = countingOf(all);
  const names = sources.map(({ source }) => source);
  known.sources = names;
  // Before the coverage, for the same reason: packages get their keys when they are compared.
  const isWaiting = await isAnyUnmatched(tx, digest, names);
  known.coverage = await coverageOf(tx, digest, names, feeds);
  known.files = catalog === undefined ? [] : (JSON.parse(catalog.unread) as Unread[]);
  known.unreadFiles = countOf(known.files);
  const isVouched = sources.some(({ source, kind, isClaim }) => !isClaim && source !== LAYERS && kind !== "scan");
  if (!isVouched) {
    const missing = missingIn(catalog, known);
    if (missing !== undefined) return unknown(missing.reason, missing.waits);
  }
  if (isCutOff(all)) return unknown("more SBOMs are attached to it than are looked at");
  const { packages, uncovered, waiting } = known.coverage;
  if (packages === 0) return unknown("no package was found in it");
  if (isWaiting)
    return unknown("its packages wait to be compared with the records of the feeds", true);
  if (waiting > 0) return unknown("the records of the feeds wait to be compared with its packages", true);
  // What is of no ecosystem, such as the program of the image itself, is listed: no feed could ever cover it.
  const missing = uncovered.filter(({ ecosystem }) => ecosystem !== NO_ECOSYSTEM);
  return missing.length === 0 ? known : unknown(describeUncovered(missing), false, "NO_DATA");
}

/** What a gate says of it; undefined when it is known. */
export function unknownIn({ digest, reason, waits, state }: ImageKnowledge): UnknownImage | undefined {
  return state === "READ" ? undefined : { digest, reason, waits, state };
}

interface CatalogRow {
  state: number;
  reason: string;
  unread: string;
}

const selectHeld = statement("select 1 as one from manifests where repo = ? and digest = ?");
const selectCatalog = statement<CatalogRow>("select state, reason, unread from image_catalogs where digest = ?");

/** Why our own reading of the layers does not say what the image holds; undefined when it does. */
function missingIn(
  row: CatalogRow | undefined,
  { files }: Pick<ImageKnowledge, "files">,
): { reason: string; waits?: boolean } | undefined {
  if (row === undefined) return { reason: "it was not read, since it was stored before images were read" };
  const { state, reason } = row;
  if (state === CATALOG_STATE.failed) return { reason: `it could not be read: ${reason}` };
  if (state === CATALOG_STATE.waiting)
    return { reason: reason === "" ? "it waits to be read" : `it waits to be read again: ${reason}`, waits: true };
  // An archive that is not identified was read: it is counted and listed, and most are the image's own program.
  const unread = files.filter(({ kind }) => kind === undefined);
  const [first] = unread;
  if (first === undefined) return undefined;
  const count = countOf(unread);
  const others = count > 1 ? `, and ${count - 1} more` : "";
  return { reason: `a part of it could not be read: ${first.path}: ${first.reason}${others}` };
}

/** How many files there are: the last entry may say how many more than are named. */
function countOf(files: readonly Unread[]): number {
  const last = files.at(-1);
  const more = last?.path === "" ? /^[0-9]{1,9}/.exec(last.reason)?.[0] : undefined;
  return more === undefined ? files.length : files.length - 1 + Number(more);
}

interface Manifest {
  config?: { mediaType?: string };
  layers?: { mediaType?: string }[];
}

/** Types of documents, such as signatures and attestations, which are stored with the configuration of an image. */
const DOCUMENT = /(?:\+|\/)(?:json|xml|yaml)$/;

/**
 * Whether clients may run it: a layer of it is a file system, or it has the configuration of an image and is not made
 * of documents alone.
 */
function isImage(content: Uint8Array): boolean {
  const { config, layers = [] } = JSON.parse(Buffer.from(content).toString()) as Manifest;
  const types = layers.map(({ mediaType = "" }) => mediaType);
  if (types.some(isFileSystem)) return true;
  const isOfDocuments = types.length > 0 && types.every((type) => type.startsWith("text/") || DOCUMENT.test(type));
  return isImageConfigType(config?.mediaType ?? "") && !isOfDocuments;
}
