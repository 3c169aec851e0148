import { isIndexType } from "../../core/media-types.ts";
import { type Database, statement } from "../../store/index.ts";
import type { GatedImage } from "../../registry/index.ts";
import { imagesIn } from "../sbom/holdings.ts";

/** The most images of one index that are looked at. */
const MAX_IMAGES = 200;

/** The digests of the images that an index names, without attestations; none for another manifest. */
export function namedImages(mediaType: string, content: Uint8Array): string[] {
  if (!isIndexType(mediaType)) return [];
  return imagesIn(content)
    .map(({ digest }) => digest)
    .slice(0, MAX_IMAGES);
}

const selectManifest = statement<{ media_type: string; content: Uint8Array }>(
  "select media_type, content from manifests where repo = ? and digest = ?",
);

/** The same of a manifest of the repo. */
export async function imagesOfIndex(tx: Database, { repo, digest }: GatedImage): Promise<string[]> {
  const [row] = await selectManifest(tx, repo, digest);
  return row === undefined ? [] : namedImages(row.media_type, row.content);
}
