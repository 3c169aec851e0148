import { isImageConfigType, isIndexType } from "../../core/media-types.ts";
import type { GatedImage, UnknownImage } from "../../registry/index.ts";
import { type Database, statement } from "../../store/index.ts";
import { countingOf, isCutOff, packageSources } from "../attached/sources.ts";
import { CATALOG_STATE, LAYERS } from "../catalog/rows.ts";
import { isFileSystem } from "../catalog/queue.ts";
import type { Unread } from "../catalog/types.ts";
import { isAnyUnmatched } from "../findings/image-packages.ts";

/** The bytes of a manifest. */
export interface ManifestContent {
  mediaType: string;
  content: Uint8Array;
}

const MAX_REASON = 300;

/**
 * Why it is not known what the image of a repo holds; undefined when it is, and for what is no image. It is known when
 * its layers were read as a whole, or somebody who may write advisories attached an SBOM to it, and a package was found
 * and compared with the records of feeds.
 */
export async function unknownOf(
  tx: Database,
  { repo, digest }: GatedImage,
  manifest: ManifestContent | undefined,
): Promise<UnknownImage | undefined> {
  const unknown = (reason: string, waits = false): UnknownImage => ({
    digest,
    reason: reason.slice(0, MAX_REASON).toWellFormed(),
    waits,
  });
  if (manifest === undefined) return unknown("it is not stored here");
  if (isIndexType(manifest.mediaType) || !isImage(manifest.content)) return undefined;
  // What is answered from the source of a mirror is copied meanwhile.
  if ((await selectHeld(tx, repo, digest)).length === 0)
    return unknown("it is not stored here yet: it is copied from its source", true);
  const all = await packageSources(tx, { repo, digest });
  const sources = countingOf(all);
  const isVouched = sources.some(({ source, kind, isClaim }) => !isClaim && source !== LAYERS && kind !== "scan");
  if (!isVouched) {
    const missing = await missingIn(tx, digest);
    if (missing !== undefined) return unknown(missing.reason, missing.waits);
  }
  if (isCutOff(all)) return unknown("more SBOMs are attached to it than are looked at");
  const names = sources.map(({ source }) => source);
  if (!(await isAnyPackage(tx, digest, names))) return unknown("no package was found in it");
  if (await isAnyUnmatched(tx, digest, names))
    return unknown("its packages wait to be compared with the records of the feeds", true);
  return undefined;
}

const selectHeld = statement("select 1 as one from manifests where repo = ? and digest = ?");
const selectCatalog = statement<{ state: number; reason: string; unread: string }>(
  "select state, reason, unread from image_catalogs where digest = ?",
);

/** Why our own reading of the layers does not say what the image holds; undefined when it does. */
async function missingIn(tx: Database, digest: string): Promise<{ reason: string; waits?: boolean } | undefined> {
  const [row] = await selectCatalog(tx, digest);
  if (row === undefined) return { reason: "it was not read, since it was stored before images were read" };
  const { state, reason } = row;
  if (state === CATALOG_STATE.failed) return { reason: `it could not be read: ${reason}` };
  if (state === CATALOG_STATE.waiting)
    return { reason: reason === "" ? "it waits to be read" : `it waits to be read again: ${reason}`, waits: true };
  // An archive that is not identified was read: it is counted and listed, and most are the image's own program.
  const [first, ...more] = (JSON.parse(row.unread) as Unread[]).filter(({ kind }) => kind === undefined);
  if (first === undefined) return undefined;
  const others = more.length === 0 ? "" : `, and ${more.length} more`;
  return { reason: `a part of it could not be read: ${first.path}: ${first.reason}${others}` };
}

async function isAnyPackage(tx: Database, digest: string, sources: readonly string[]): Promise<boolean> {
  if (sources.length === 0) return false;
  const row = await tx
    .selectFrom("image_packages")
    .select("n")
    .where("digest", "=", digest)
    .where("source", "in", sources)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
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
