import { Capability as C } from "@moorage/api/messages";
import { sql } from "kysely";
import { unindexed, within } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { isImageType } from "@moorage/kernel/core/media-types";
import { statement } from "@moorage/kernel/store";
import { imagePaths } from "./image-paths.ts";

/** What is known of the image that another one, of this digest, was built on. */
interface Base {
  digest: string;
  statedName: string;
  statedDigest: string;
  layerCount: number;
  images: BaseImage[];
  incomplete: boolean;
}
/** An image whose layers are the first ones of another. */
interface BaseImage {
  repo: string;
  image: string;
  digest: string;
  tags: string[];
  stated: boolean;
}
interface Layer {
  digest: string;
  size: number;
}
interface Held {
  repo: string;
  digest: string;
}
interface Stored {
  media_type: string;
  content: Uint8Array;
  labels: string;
}

const NEEDS = [C.CAP_REPO_LIST, C.CAP_TAG_LIST, C.CAP_MANIFEST_METADATA_LIST] as const;
const NAME = "org.opencontainers.image.base.name";
const DIGEST = "org.opencontainers.image.base.digest";
const MAX_NAME_CHARS = 512;
/** Of an image with more layers the rest is passed over. */
const MAX_LAYERS = 200;
/** How many images that share one layer are looked at, and of how many in all the manifests are read. */
const MAX_SHARING = 1_000;
const MAX_READ = 100;
const MAX_MANIFEST_BYTES = 64 * 1024;
const MAX_IMAGES = 10;
const MAX_TAGS = 5;
/** Layers that hold nothing, such as those of a changed label, are as small as this: they make no base. */
const EMPTY_LAYER_BYTES = 1_024;

const selectStored = statement<Stored>(
  "select media_type, content, labels from manifests where repo = ? and digest = ? and size <= ?",
);
const selectType = statement<{ media_type: string }>("select media_type from manifests where repo = ? and digest = ?");
const selectTags = statement<{ name: string }>(
  `select name from tags where parent = ? and (digest = ? or digest in
     (select digest from manifest_references where repo = ? and target = ? and kind = 'manifest'))
   order by name limit ?`,
);
const selectReference = statement("select 1 from manifest_references where repo = ? and digest = ? and target = ?");

/** Whether the repo holds one image under the digest: an index is none. */
export async function isOneImage({ tx }: Pick<Call, "tx">, repo: string, digest: string): Promise<boolean> {
  const [type] = await selectType(tx, repo, digest);
  return type !== undefined && isImageType(type.media_type);
}

/**
 * What is known of the images that an image of the repo was built on: those whose layers are all among its first ones,
 * in the same order. Source of the annotations: OCI image specification, "annotations".
 */
export async function baseOf(call: Call, repo: string, digest: string): Promise<Base> {
  const [stored] = await selectStored(call.tx, repo, digest, MAX_MANIFEST_BYTES);
  // Its manifest is too large to be compared.
  if (stored === undefined)
    return { digest, statedName: "", statedDigest: "", layerCount: 0, images: [], incomplete: true };
  const { layers, annotations } = parsed(stored.content);
  const stated = { ...textsOf(stored.labels), ...annotations };
  const base = {
    statedName: textIn(stated, NAME).slice(0, MAX_NAME_CHARS),
    statedDigest: /^sha(?:256:[a-f0-9]{64}|512:[a-f0-9]{128})$/.exec(textIn(stated, DIGEST).slice(0, 140))?.[0] ?? "",
  };
  const found = await sharing(call, layers.slice(0, MAX_LAYERS + 1));
  return { ...found, ...base, digest, images: await named(call, found.images, base.statedDigest) };
}

/** The images with most layers of those whose layers are the first ones of these, and fewer. */
async function sharing(
  call: Call,
  layers: readonly Layer[],
): Promise<{ layerCount: number; images: Held[]; incomplete: boolean }> {
  const roots = await call.visible(...NEEDS);
  let readsLeft = MAX_READ;
  let incomplete = layers.length > MAX_LAYERS;
  for (let count = Math.min(layers.length - 1, MAX_LAYERS); count > 0 && roots.length > 0; count--) {
    const own = layers.slice(0, count);
    if (own.every(({ size }) => size <= EMPTY_LAYER_BYTES)) break;
    const { held, isCut } = await holding(call, own, layers[count], roots);
    incomplete ||= isCut || held.length > readsLeft;
    const images: Held[] = [];
    for (const each of held.slice(0, readsLeft)) {
      readsLeft -= 1;
      const [stored] = await selectStored(call.tx, each.repo, each.digest, MAX_MANIFEST_BYTES);
      if (stored === undefined) incomplete = true;
      else if (isImageType(stored.media_type) && isSame(parsed(stored.content).layers, own)) images.push(each);
    }
    call.requireCaller();
    if (images.length > 0) return { layerCount: count, images, incomplete };
    if (readsLeft <= 0) return { layerCount: 0, images: [], incomplete: true };
  }
  return { layerCount: 0, images: [], incomplete };
}

/** Images that have the last one of these layers, and not the one that follows it. */
async function holding(
  { tx }: Call,
  own: readonly Layer[],
  next: Layer | undefined,
  roots: string[],
): Promise<{ held: Held[]; isCut: boolean }> {
  const last = own.at(-1)?.digest ?? "";
  const { rows } = await sql<Held>`select t.repo, t.digest from manifest_references as t
    where t.target = ${last} and t.kind = 'blob' and ${within(roots, unindexed(sql.ref("t.repo")))}
    order by t.repo, t.digest limit ${MAX_SHARING + 1}`.execute(tx);
  const looked = rows.slice(0, MAX_SHARING);
  const isCut = rows.length > MAX_SHARING;
  // A layer may stand in an image more than once.
  if (next === undefined || own.some(({ digest }) => digest === next.digest)) return { held: looked, isCut };
  const held: Held[] = [];
  for (const each of looked)
    if ((await selectReference(tx, each.repo, each.digest, next.digest)).length === 0) held.push(each);
  return { held, isCut };
}

async function named({ tx }: Call, images: readonly Held[], stated: string): Promise<BaseImage[]> {
  const paths = await imagePaths(tx).ofUids(images.map(({ repo }) => repo));
  const found: BaseImage[] = [];
  for (const { repo, digest } of images) {
    const tags = (await selectTags(tx, repo, digest, repo, digest, MAX_TAGS)).map(({ name }) => name);
    const isStated =
      stated !== "" && (digest === stated || (await selectReference(tx, repo, stated, digest)).length > 0);
    found.push({ repo, digest, image: paths.get(repo) ?? "", tags, stated: isStated });
  }
  const rank = ({ stated: isStated, tags }: BaseImage): number => (isStated ? 0 : tags.length > 0 ? 1 : 2);
  return found
    .toSorted((one, other) => rank(one) - rank(other) || (one.image < other.image ? -1 : 1))
    .slice(0, MAX_IMAGES);
}

const isSame = (one: readonly Layer[], other: readonly Layer[]): boolean =>
  one.length === other.length && one.every(({ digest }, at) => digest === other[at]?.digest);

/** It was validated when it was pushed. */
function parsed(content: Uint8Array): { layers: Layer[]; annotations: Record<string, unknown> } {
  const { layers = [], annotations = {} } = JSON.parse(Buffer.from(content).toString()) as {
    layers?: Layer[];
    annotations?: Record<string, unknown>;
  };
  return { layers, annotations };
}

const textsOf = (labels: string): Record<string, unknown> => JSON.parse(labels) as Record<string, unknown>;

const textIn = (texts: Record<string, unknown>, name: string): string => {
  const value = texts[name];
  return typeof value === "string" ? value : "";
};
