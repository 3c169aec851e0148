import { setImmediate } from "node:timers/promises";
import type { Call } from "@moorage/kernel/core/call";
import { isImageType, isIndexType } from "@moorage/kernel/core/media-types";
import type { ServiceContext } from "@moorage/kernel/core/service";
import { invalidArgument } from "@moorage/kernel/errors";
import { statement } from "@moorage/kernel/store";
import { architectureName, imageConfigIn, MAX_CONFIG_BYTES } from "./image-config.ts";

/** An image for one architecture. `size` is that of its configuration and layers, in bytes. */
export interface Image {
  digest: string;
  architecture: string;
  size: number;
}
/** The repo in which images are looked up. */
export interface Place {
  call: Call;
  readBlob: ServiceContext["readBlob"];
  repo: string;
}
interface Descriptor {
  digest: string;
  size: number;
  platform?: { architecture?: unknown; variant?: unknown } | null;
}
/** The fields of a stored manifest that are used here. It was validated when it was pushed. */
interface Manifest {
  manifests?: Descriptor[];
  config?: Descriptor;
  layers?: Descriptor[];
}
/** A stored manifest. `architecture` and `image_size` are null for an index, and where an earlier version stored it. */
interface Row {
  digest: string;
  media_type: string;
  size: number;
  architecture: string | null;
  image_size: number | null;
}

/** The most images of one index that are looked at. */
const MAX_IMAGES = 1000;
// What is read at most of images that an earlier version stored, manifests and configurations together.
const MAX_READ_BYTES = 64 << 20;
// The number of digests in one statement: below every engine's limit of parameters.
const CHUNK = 500;

const selectContent = statement<{ content: Uint8Array }>("select content from manifests where repo = ? and digest = ?");

/**
 * The images that a manifest is or lists, each digest looked up once; undefined when the repo does not hold the
 * manifest. Images that the repo lacks and indexes in an index are left out. Throws INVALID_ARGUMENT on `digest` when
 * there are too many to look at, and ABORTED when the caller leaves.
 */
export async function imagesOf(place: Place, digest: string): Promise<Image[] | undefined> {
  const [row] = await rowsOf(place, [digest]);
  if (row === undefined) return undefined;
  const read = imageReader(place);
  if (!isIndexType(row.media_type)) return [await read(row)];
  const entries = (await manifestOf(place, digest)).manifests ?? [];
  const digests = [...new Set(entries.map((entry) => entry.digest))];
  if (digests.length > MAX_IMAGES) throw tooMuch(`names more than ${MAX_IMAGES} images`);
  const images = new Map<string, Image>();
  for (const found of await rowsOf(place, digests))
    if (isImageType(found.media_type)) images.set(found.digest, await read(found));
  return entries.flatMap((entry) => {
    const image = images.get(entry.digest);
    if (image === undefined) return [];
    // An index may call the architecture of an image by another name than the image does.
    return [{ ...image, architecture: architectureName(entry.platform ?? {}) || image.architecture }];
  });
}

async function rowsOf({ call, repo }: Place, digests: readonly string[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (let at = 0; at < digests.length; at += CHUNK) {
    rows.push(
      ...(await call.tx
        .selectFrom("manifests")
        .select(["digest", "media_type", "size", "architecture", "image_size"])
        .where("repo", "=", repo)
        .where("digest", "in", digests.slice(at, at + CHUNK))
        .execute()),
    );
  }
  return rows;
}

async function manifestOf({ call, repo }: Place, digest: string): Promise<Manifest> {
  const [row] = await selectContent(call.tx, repo, digest);
  return row === undefined ? {} : (JSON.parse(Buffer.from(row.content).toString()) as Manifest);
}

/** The digest of an image's configuration; undefined when the repo does not hold the image. */
export async function configOf(place: Place, digest: string): Promise<string | undefined> {
  return (await manifestOf(place, digest)).config?.digest;
}

/**
 * Answers what was stored with an image when it was pushed; of one that an earlier version stored, what its manifest
 * and configuration say, each configuration read once.
 */
function imageReader(place: Place): (row: Row) => Promise<Image> {
  const { call, readBlob, repo } = place;
  const architectures = new Map<string, string>();
  let bytesLeft = MAX_READ_BYTES;
  const spend = (bytes: number): void => {
    bytesLeft -= bytes;
    if (bytesLeft < 0) throw tooMuch("is too large to look at; push its images again");
  };
  const architectureOf = async (config: Descriptor | undefined): Promise<string> => {
    if (config === undefined) return "";
    const known = architectures.get(config.digest);
    if (known !== undefined) return known;
    const content = await readBlob(call, repo, config.digest, MAX_CONFIG_BYTES);
    spend(content?.byteLength ?? 0);
    const architecture = content === undefined ? "" : imageConfigIn(content).architecture;
    architectures.set(config.digest, architecture);
    return architecture;
  };
  return async ({ digest, size, architecture, image_size: imageSize }) => {
    if (architecture !== null && imageSize !== null) return { digest, architecture, size: imageSize };
    // Other requests have their turn, and a caller who left is noticed.
    await setImmediate();
    call.requireCaller();
    spend(size);
    const { config, layers = [] } = await manifestOf(place, digest);
    const total = layers.reduce((sum, layer) => sum + layer.size, config?.size ?? 0);
    return { digest, architecture: await architectureOf(config), size: Math.min(total, Number.MAX_SAFE_INTEGER) };
  };
}

function tooMuch(description: string): Error {
  return invalidArgument({ field: "digest", description });
}
