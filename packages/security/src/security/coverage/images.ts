import { isImageType, isIndexType } from "@moorage/kernel/core/media-types";
import { type Database, statement } from "@moorage/kernel/store";
import type { GatedImage } from "@moorage/registry/registry";
import { imagesIn } from "../images/holdings.ts";
import type { ManifestContent } from "./image-knowledge.ts";

/** The most images of one index that are looked at. */
export const MAX_IMAGES = 200;
/** How deep indexes in indexes are looked at. */
const MAX_DEPTH = 4;

/** The digests of the images that an index names, without attestations; none for another manifest. */
export function namedImages(mediaType: string, content: Uint8Array): string[] {
  if (!isIndexType(mediaType)) return [];
  return imagesIn(content)
    .map(({ digest }) => digest)
    .slice(0, MAX_IMAGES);
}

/** The platforms of the images that indexes among the manifests name, by their digests. */
export function platformsIn(manifests: readonly ManifestContent[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { mediaType, content } of manifests)
    if (isIndexType(mediaType)) for (const { digest, platform } of imagesIn(content)) found.set(digest, platform);
  return found;
}

const selectManifest = statement<{ media_type: string; content: Uint8Array }>(
  "select media_type, content from manifests where repo = ? and digest = ?",
);

/** The manifest of the repo; undefined when it does not hold it. */
export async function manifestOf(tx: Database, { repo, digest }: GatedImage): Promise<ManifestContent | undefined> {
  const [row] = await selectManifest(tx, repo, digest);
  return row && { mediaType: row.media_type, content: row.content };
}

/** A manifest that a tag stands for. `manifest`: undefined when the repo does not hold it. */
export interface StoodFor {
  digest: string;
  manifest: ManifestContent | undefined;
}

/**
 * The manifest and everything that it names, as an index, directly or through another one. `isWhole`: nothing is left
 * out.
 */
export async function manifestsBehind(
  tx: Database,
  { repo, digest }: GatedImage,
): Promise<{ all: StoodFor[]; isWhole: boolean }> {
  const found = new Map<string, StoodFor>();
  let isWhole = true;
  let level = [digest];
  for (let depth = 0; level.length > 0; depth += 1) {
    const next = new Set<string>();
    for (const each of level) {
      if (found.has(each)) continue;
      if (found.size > MAX_IMAGES || depth > MAX_DEPTH) {
        isWhole = false;
        break;
      }
      const manifest = await manifestOf(tx, { repo, digest: each });
      found.set(each, { digest: each, manifest });
      // What stands beside images, such as attestations, is known by its own manifest: a platform may be wrong.
      if (manifest !== undefined && isIndexType(manifest.mediaType))
        for (const one of entriesOf(manifest)) next.add(one);
    }
    level = [...next];
  }
  return { all: [...found.values()], isWhole };
}

/** The manifests that an index names. */
function entriesOf({ content }: ManifestContent): string[] {
  const { manifests = [] } = JSON.parse(Buffer.from(content).toString()) as {
    manifests?: { digest: string; mediaType: string }[];
  };
  return manifests
    .filter(({ mediaType }) => isImageType(mediaType) || isIndexType(mediaType))
    .map(({ digest }) => digest);
}
