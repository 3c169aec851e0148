import type { Call } from "@moorage/kernel/core/call";
import { isIndexType } from "@moorage/kernel/core/media-types";
import type { ServiceContext } from "@moorage/kernel/core/service";
import { invalidArgument } from "@moorage/kernel/errors";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { MAX_CONFIG_BYTES } from "@moorage/registry/registry";
import { weighBytes } from "../images/weights.ts";

/** Where images are read. */
export interface Place {
  call: Call;
  readBlob: ServiceContext["readBlob"];
  repo: string;
  /** What may still be read for the answer, in bytes. */
  budget: { bytes: number };
}

export interface Descriptor {
  digest: string;
  size: number;
  mediaType?: string;
}

/** The parts of a stored manifest that are compared. It was validated when it was pushed. */
export interface Manifest {
  config?: Descriptor;
  layers?: Descriptor[];
  annotations?: unknown;
  manifests?: (Descriptor & { platform?: Platform | null })[];
}
interface Platform {
  os?: unknown;
  architecture?: unknown;
  variant?: unknown;
}

/** An image of one platform. `manifest` is undefined when the repo does not hold it. */
export interface PlatformImage {
  platform: string;
  digest: string;
  manifest: Manifest | undefined;
}

/** What a digest is. `manifest` is undefined when the repo does not hold it; then there are no images. */
export interface SideImages {
  manifest: Manifest | undefined;
  mediaType: string;
  isIndex: boolean;
  images: PlatformImage[];
}

/** The most images of one index, and the most that is read for one answer. */
const MAX_IMAGES = 200;
export const MAX_READ_BYTES = 64 << 20;
const MAX_DEPTH = 64;
// The architecture of attestations, which an index lists beside the images.
const NO_ARCHITECTURE = "unknown";

/** The images of a manifest or index. `field` is blamed when there are too many to look at. */
export async function imagesOf(place: Place, field: "from" | "to", digest: string): Promise<SideImages> {
  const [row] = await manifestsOf(place, field, [digest]);
  if (row === undefined) return { manifest: undefined, mediaType: "", isIndex: false, images: [] };
  const { manifest, mediaType } = row;
  const isIndex = isIndexType(mediaType);
  if (!isIndex) {
    const platform = platformOf(await configOf(place, manifest));
    return { manifest, mediaType, isIndex, images: [{ platform, digest, manifest }] };
  }
  const entries = (manifest.manifests ?? []).filter(({ platform }) => platform?.architecture !== NO_ARCHITECTURE);
  if (entries.length > MAX_IMAGES)
    throw invalidArgument({ field, description: `names more than ${MAX_IMAGES} images` });
  const stored = new Map(
    (
      await manifestsOf(
        place,
        field,
        entries.map((entry) => entry.digest),
      )
    ).map((each) => [each.digest, each.manifest]),
  );
  const images: PlatformImage[] = [];
  for (const { digest: each, platform } of entries) {
    const own = stored.get(each);
    images.push({
      digest: each,
      manifest: own,
      platform: platformOf(platform ?? (own === undefined ? undefined : await configOf(place, own))),
    });
  }
  return { manifest, mediaType, isIndex, images };
}

/** The configuration of an image; empty when it has none that can be read. */
export async function configOf(place: Place, { config }: Manifest): Promise<Record<string, unknown>> {
  if (config === undefined) return {};
  const { call, readBlob, repo } = place;
  call.requireCaller();
  const content = await readBlob(call, repo, config.digest, MAX_CONFIG_BYTES);
  if (content === undefined) return {};
  spend(place, "to", content.byteLength);
  weighBytes(call, content.byteLength);
  try {
    const parsed = parseJson(Buffer.from(content).toString(), MAX_DEPTH);
    return isObject(parsed) ? parsed : {};
  } catch {
    // The configuration of an artifact may be anything.
    return {};
  }
}

/** Bytes of the configuration and the layers. */
export function sizeOf({ config, layers = [] }: Manifest): number {
  return Math.min(
    layers.reduce((sum, layer) => sum + layer.size, config?.size ?? 0),
    Number.MAX_SAFE_INTEGER,
  );
}

/** Bytes of all images together, where what several of them have counts once. */
export function totalSize(images: readonly PlatformImage[]): number {
  const sizes = new Map<string, number>();
  for (const { manifest } of images)
    for (const each of [manifest?.config, ...(manifest?.layers ?? [])])
      if (each !== undefined) sizes.set(each.digest, each.size);
  return Math.min(
    [...sizes.values()].reduce((sum, size) => sum + size, 0),
    Number.MAX_SAFE_INTEGER,
  );
}

interface StoredManifest {
  digest: string;
  mediaType: string;
  manifest: Manifest;
}

async function manifestsOf(place: Place, field: "from" | "to", digests: string[]): Promise<StoredManifest[]> {
  if (digests.length === 0) return [];
  const named = place.call.tx
    .selectFrom("manifests")
    .where("repo", "=", place.repo)
    .where("digest", "in", [...new Set(digests)]);
  let bytes = 0;
  for (const { size } of await named.select("size").execute()) {
    spend(place, field, size);
    bytes += size;
  }
  weighBytes(place.call, bytes);
  const rows = await named.select(["digest", "media_type", "content"]).execute();
  return rows.map(({ digest, media_type: mediaType, content }) => ({
    digest,
    mediaType,
    manifest: JSON.parse(Buffer.from(content).toString()) as Manifest,
  }));
}

function spend({ budget }: Place, field: "from" | "to", bytes: number): void {
  budget.bytes -= bytes;
  if (budget.bytes < 0) throw invalidArgument({ field, description: "is too large to be compared" });
}

/** `linux/arm/v7`, from a platform of an index or a configuration; empty when it names no architecture. */
function platformOf({ os, architecture, variant }: Platform = {}): string {
  return isName(architecture) ? [os, architecture, variant].filter(isName).join("/") : "";
}

const isName = (value: unknown): value is string => typeof value === "string" && /^[\w.-]{1,64}$/.test(value);
