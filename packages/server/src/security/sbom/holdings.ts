import type { Call } from "../../core/call.ts";
import { isIndexType } from "../../core/media-types.ts";
import { failedPrecondition, invalidArgument, notFound } from "../../errors.ts";
import { type Database, select } from "../../store/index.ts";
import { CATALOG_STATE } from "../catalog/rows.ts";

/** A package of an image, or of several of an index. */
export interface HeldPackage {
  id: string;
  purl: string;
  name: string;
  version: string;
  licence: string;
  sourceName: string;
  sourceVersion: string;
  /** Where it lies: the layer's digest and the path. */
  places: { layer: string; path: string }[];
  /** Such as `linux/amd64`; empty for an image that is asked for by its own digest. */
  platforms: string[];
}

/** What an image holds. `readMs`: when it was read, in milliseconds since 1970. */
export interface Holdings {
  packages: HeldPackage[];
  readMs: number;
}

interface Entry {
  digest: string;
  platform: string;
  architecture: string;
}

interface Index {
  manifests?: { digest: string; platform?: { os?: string; architecture?: string; variant?: string } | null }[];
}

/** The most images of one index that are looked at, and the most packages of one answer. */
const MAX_IMAGES = 200;
const MAX_PACKAGES = 50_000;
const NO_ARCHITECTURE = "unknown";

/**
 * What the image holds, or all images of the index, in the order of purls. Throws NOT_FOUND when the repo does not hold
 * it, INVALID_ARGUMENT on `architecture` when no image is for that, and FAILED_PRECONDITION with the reason when one of
 * the images is not read.
 */
export async function holdingsOf(
  { tx }: Pick<Call, "tx">,
  { repo, digest, architecture }: { repo: string; digest: string; architecture: string },
): Promise<Holdings> {
  const packages = new Map<string, HeldPackage>();
  let readMs = 0;
  for (const image of await imagesOf(tx, repo, digest, architecture)) {
    readMs = Math.max(readMs, await requireRead(tx, image.digest));
    await addPackages(tx, image, packages);
    if (packages.size > MAX_PACKAGES)
      throw invalidArgument({ field: "digest", description: `has more than ${MAX_PACKAGES} packages` });
  }
  return { packages: [...packages.values()].sort((a, b) => (a.purl < b.purl ? -1 : a.purl > b.purl ? 1 : 0)), readMs };
}

async function imagesOf(tx: Database, repo: string, digest: string, architecture: string): Promise<Entry[]> {
  const row = await tx
    .selectFrom("manifests")
    .select(["media_type", "content", "architecture"])
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (row === undefined) throw notFound("moorage.registry.v2.Image", digest);
  const images = isIndexType(row.media_type)
    ? entriesOf(JSON.parse(Buffer.from(row.content).toString()) as Index)
    : [{ digest, platform: "", architecture: row.architecture ?? "" }];
  if (images.length > MAX_IMAGES)
    throw invalidArgument({ field: "digest", description: `names more than ${MAX_IMAGES} images` });
  if (architecture === "") return images;
  const found = images.filter((each) => each.architecture === architecture);
  if (found.length > 0) return found;
  const known = [...new Set(images.map((each) => each.architecture))].join(", ");
  throw invalidArgument({ field: "architecture", description: `the image is for ${known || "no architecture"}` });
}

function entriesOf({ manifests = [] }: Index): Entry[] {
  const entries = new Map<string, Entry>();
  for (const { digest, platform } of manifests) {
    const architecture = [platform?.architecture, platform?.variant].filter(Boolean).join("/");
    // Attestations stand beside the images.
    if (architecture === NO_ARCHITECTURE) continue;
    entries.set(digest, { digest, architecture, platform: [platform?.os, architecture].filter(Boolean).join("/") });
  }
  return [...entries.values()];
}

async function requireRead(tx: Database, digest: string): Promise<number> {
  const row = await tx
    .selectFrom("image_catalogs")
    .select(["state", "reason", "finish_time"])
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (row?.state === CATALOG_STATE.done) return row.finish_time ?? 0;
  const reason =
    row === undefined
      ? "it is no image with file systems, or is not stored here"
      : row.state === CATALOG_STATE.failed
        ? `it could not be read: ${row.reason}`
        : "it waits to be read";
  throw failedPrecondition({ type: "IMAGE_NOT_READ", subject: digest, description: `${digest}: ${reason}` });
}

async function addPackages(tx: Database, { digest, platform }: Entry, to: Map<string, HeldPackage>): Promise<void> {
  const rows = await select<Omit<HeldPackage, "places" | "platforms"> & { layer: string; path: string }>(
    tx,
    `select p.id, p.purl, p.name, p.version, p.licence, p.source_name as "sourceName", p.source_version as "sourceVersion", i.layer, i.path
     from image_packages as i join packages as p on p.id = i.package where i.digest = ? order by i.source, i.n`,
    [digest],
  );
  for (const { layer, path, ...row } of rows) {
    const held = to.get(row.id) ?? { ...row, places: [], platforms: [] };
    to.set(row.id, held);
    if (!held.places.some((place) => place.layer === layer && place.path === path)) held.places.push({ layer, path });
    if (platform !== "" && !held.platforms.includes(platform)) held.platforms.push(platform);
  }
}
