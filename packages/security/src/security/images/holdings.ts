import type { Call } from "@moorage/kernel/core/call";
import { isIndexType } from "@moorage/kernel/core/media-types";
import { failedPrecondition, invalidArgument, notFound } from "@moorage/kernel/errors";
import { type Database, select } from "@moorage/kernel/store";
import { type Contradiction, NamedVersions } from "../attached/contradictions.ts";
import { countingOf, packageSources, type PackageSource } from "../attached/sources.ts";
import { CATALOG_STATE, LAYERS } from "../catalog/rows.ts";
import { placesOf } from "./weights.ts";

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
  /** Who says so: see PackageSource. The one that counts most first. */
  sources: string[];
  /** Who says otherwise: names it in other versions, and not in this one. */
  contradictions: Contradiction[];
}

/**
 * What an image holds. `readMs`: when it was read, in milliseconds since 1970. `sources`: who says so, each once; see
 * PackageSource.
 */
export interface Holdings {
  packages: HeldPackage[];
  readMs: number;
  sources: string[];
}

/** Of which image of a repo. `architecture`: of which image of an index. Empty for all, or whichever source counts. */
export interface HoldingsQuery {
  repo: string;
  digest: string;
  architecture: string;
  source: string;
}

interface Entry {
  digest: string;
  platform: string;
  architecture: string;
}

interface Index {
  manifests?: { digest: string; platform?: { os?: string; architecture?: string; variant?: string } | null }[];
}

/** The most images of one index that are looked at, the most packages of one answer, and the most places of them. */
const MAX_IMAGES = 200;
const MAX_PACKAGES = 50_000;
const MAX_PLACES = 400_000;
const NO_ARCHITECTURE = "unknown";

/**
 * What the image holds, or all images of the index, in the order of purls. What is attached to an index is added
 * to that. Throws NOT_FOUND when the repo does not hold it, INVALID_ARGUMENT on `architecture` when no image is for
 * that and on `source` when it is none of the image's, and FAILED_PRECONDITION with the reason when one of the images
 * is not read.
 */
export async function holdingsOf(call: Reading, query: HoldingsQuery): Promise<Holdings> {
  const packages = new Map<string, HeldPackage>();
  const sources = new Set<string>();
  let readMs = 0;
  const found = await sourcesFor(call.tx, query, { claims: true });
  await requireReadable(call, found);
  for (const { source } of found) {
    readMs = Math.max(readMs, source.readMs);
    sources.add(source.source);
  }
  for (const { image, of } of byImage(found)) {
    await addImage(call.tx, image, of, packages);
    if (packages.size > MAX_PACKAGES) throw tooMany(`${MAX_PACKAGES} packages`);
  }
  return { packages: sorted(packages), readMs, sources: [...sources] };
}

type Reading = Pick<Call, "tx" | "weigh">;

/** Counts what is about to be read. Throws INVALID_ARGUMENT for more than an answer may have. */
async function requireReadable({ tx, weigh }: Reading, found: readonly ImageSource[]): Promise<void> {
  let places = 0;
  for (const { image, source } of found) {
    const own = await placesOf(tx, image.digest, [source.source]);
    places += own;
    weigh(places);
    if (places > MAX_PLACES) throw tooMany(`${MAX_PLACES} places with packages`);
    if (own <= MAX_PACKAGES) continue;
    const [row] = await select<{ n: number | string }>(
      tx,
      "select count(distinct package) as n from image_packages where digest = ? and source = ?",
      [image.digest, source.source],
    );
    if (Number(row?.n ?? 0) > MAX_PACKAGES) throw tooMany(`${MAX_PACKAGES} packages`);
  }
}

const tooMany = (what: string): Error => invalidArgument({ field: "digest", description: `has more than ${what}` });

/** What one image holds. */
export interface ImageHoldings {
  digest: string;
  packages: HeldPackage[];
}

/**
 * What the image holds, or each of the images of the index that are for the architecture, one by one. Throws as
 * holdingsOf.
 */
export async function* holdingsByImage(
  call: Reading,
  query: HoldingsQuery,
): AsyncGenerator<ImageHoldings, void, undefined> {
  const { tx } = call;
  for (const { image, of } of byImage(await sourcesFor(tx, query))) {
    call.weigh(await placesOf(tx, image.digest, of));
    const packages = new Map<string, HeldPackage>();
    await addImage(tx, image, of, packages);
    yield { digest: image.digest, packages: sorted(packages) };
  }
}

function sorted(packages: ReadonlyMap<string, HeldPackage>): HeldPackage[] {
  return [...packages.values()].sort((a, b) => (a.purl < b.purl ? -1 : a.purl > b.purl ? 1 : 0));
}

interface ImageSource {
  image: Entry;
  source: PackageSource;
}

/** The names of the sources of each image, which are read together. */
function byImage(found: readonly ImageSource[]): { image: Entry; of: string[] }[] {
  const images = new Map<string, { image: Entry; of: string[] }>();
  for (const { image, source } of found) {
    const known = images.get(image.digest) ?? { image, of: [] };
    images.set(image.digest, known);
    known.of.push(source.source);
  }
  return [...images.values()];
}

/**
 * The sources that count for each image, what others attached only if `claims` is set, or those that have the name
 * that is asked for. What is attached to an index stands behind what its images hold. Throws as holdingsOf.
 */
export async function sourcesFor(
  tx: Database,
  { repo, digest, architecture, source: wanted }: HoldingsQuery,
  { claims = false }: { claims?: boolean } = {},
): Promise<ImageSource[]> {
  const chosen = (sources: readonly PackageSource[]): PackageSource[] =>
    wanted !== ""
      ? sources.filter(({ source }) => source === wanted)
      : countingOf(sources).filter(({ isClaim }) => claims || !isClaim);
  const images = await imagesOf(tx, repo, digest, architecture);
  const whole = { digest, platform: "", architecture: "" };
  const isIndex = architecture === "" && images[0]?.digest !== digest;
  const ofIndex = isIndex ? chosen(await packageSources(tx, { repo, digest })) : [];
  const isVouched = ofIndex.some(({ isClaim }) => !isClaim);
  const each: ImageSource[] = [];
  const known = new Set<string>(ofIndex.map(({ source }) => source));
  for (const image of images) {
    const sources = await packageSources(tx, { repo, digest: image.digest });
    for (const { source } of sources) known.add(source);
    const some = chosen(sources);
    if (some.length > 0) each.push(...some.map((source) => ({ image, source })));
    else if ((wanted === "" || wanted === LAYERS) && !isVouched) throw await notRead(tx, repo, image.digest);
  }
  each.push(...ofIndex.map((source) => ({ image: whole, source })));
  if (each.length > 0 || wanted === "") return each;
  throw invalidArgument({ field: "source", description: `must be one of ${[...known].join(", ") || "none"}` });
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
    ? imagesIn(row.content)
    : [{ digest, platform: "", architecture: row.architecture ?? "" }];
  if (images.length > MAX_IMAGES)
    throw invalidArgument({ field: "digest", description: `names more than ${MAX_IMAGES} images` });
  if (architecture === "") return images;
  const found = images.filter((each) => each.architecture === architecture);
  if (found.length > 0) return found;
  const known = [...new Set(images.map((each) => each.architecture))].join(", ");
  throw invalidArgument({ field: "architecture", description: `the image is for ${known || "no architecture"}` });
}

/** The images that an index names, each once. */
export function imagesIn(content: Uint8Array): Entry[] {
  const { manifests = [] } = JSON.parse(Buffer.from(content).toString()) as Index;
  const entries = new Map<string, Entry>();
  for (const { digest, platform } of manifests) {
    const architecture = [platform?.architecture, platform?.variant].filter(Boolean).join("/");
    // Attestations stand beside the images.
    if (architecture === NO_ARCHITECTURE) continue;
    entries.set(digest, { digest, architecture, platform: [platform?.os, architecture].filter(Boolean).join("/") });
  }
  return [...entries.values()];
}

/** The error for an image of which nothing is known. */
async function notRead(tx: Database, repo: string, digest: string): Promise<Error> {
  const row = await tx
    .selectFrom("image_catalogs as c")
    .innerJoin("manifests as m", "m.digest", "c.digest")
    .select(["c.state", "c.reason"])
    .where("c.digest", "=", digest)
    .where("m.repo", "=", repo)
    .executeTakeFirst();
  const reason =
    row === undefined
      ? "it is no image with file systems, or is not stored here"
      : row.state === CATALOG_STATE.failed
        ? `it could not be read: ${row.reason}`
        : "it waits to be read";
  return failedPrecondition({ type: "IMAGE_NOT_READ", subject: digest, description: `${digest}: ${reason}` });
}

/** The packages of one image by its sources, and where these contradict each other. */
async function addImage(
  tx: Database,
  image: Entry,
  sources: readonly string[],
  to: Map<string, HeldPackage>,
): Promise<void> {
  const named = new NamedVersions();
  const own = new Map<string, { held: HeldPackage; sources: string[] }>();
  for (const source of sources)
    for (const held of await addPackages(tx, image, source, to)) {
      const known = own.get(held.id) ?? { held, sources: [] };
      own.set(held.id, known);
      known.sources.push(source);
      if (sources.length > 1) named.add({ ...held, source });
    }
  if (sources.length < 2) return;
  for (const { held, sources: by } of own.values())
    for (const each of named.contradictionsOf(held.purl, by))
      if (!held.contradictions.some(({ source }) => source === each.source)) held.contradictions.push(each);
}

/** Answers the packages that the source names, each once. */
async function addPackages(
  tx: Database,
  { digest, platform }: Entry,
  source: string,
  to: Map<string, HeldPackage>,
): Promise<ReadonlySet<HeldPackage>> {
  type Stored = Omit<HeldPackage, "places" | "platforms" | "sources" | "contradictions">;
  const rows = await select<Stored & { layer: string; path: string }>(
    tx,
    `select p.id, p.purl, p.name, p.version, p.licence, p.source_name as "sourceName", p.source_version as "sourceVersion", i.layer, i.path
     from image_packages as i join packages as p on p.id = i.package where i.digest = ? and i.source = ? order by i.n`,
    [digest, source],
  );
  // A package may lie in any number of places, and each is there once for each image that has it.
  const known = new Map<HeldPackage, Set<string>>();
  for (const { layer, path, ...row } of rows) {
    const held = to.get(row.purl) ?? { ...row, places: [], platforms: [], sources: [], contradictions: [] };
    to.set(row.purl, held);
    complete(held, row);
    const places = known.get(held) ?? new Set(held.places.map(keyOf));
    known.set(held, places);
    if (!places.has(keyOf({ layer, path }))) {
      places.add(keyOf({ layer, path }));
      held.places.push({ layer, path });
    }
    if (platform !== "" && !held.platforms.includes(platform)) held.platforms.push(platform);
    if (!held.sources.includes(source)) held.sources.push(source);
  }
  return new Set(known.keys());
}

/** What several sources name is one package: what the first of them does not say, the others do. */
function complete(
  held: HeldPackage,
  { licence, sourceName, sourceVersion }: Pick<HeldPackage, "licence" | "sourceName" | "sourceVersion">,
): void {
  if (held.licence === "") held.licence = licence;
  if (held.sourceName !== held.name || held.sourceVersion !== held.version) return;
  held.sourceName = sourceName;
  held.sourceVersion = sourceVersion;
}

const keyOf = ({ layer, path }: HeldPackage["places"][number]): string => `${layer} ${path}`;
