import { type Database, select } from "@moorage/kernel/store";
import { imagesIn } from "./holdings.ts";
import { type ImageName, nameOf } from "./images.ts";
import { marks } from "../marks.ts";

const ROWS = 300;

/** The most indexes that are read for one answer, and the largest of them, in bytes. */
const MAX_INDEXES = 100;
const MAX_INDEX_BYTES = 1 << 20;

/** The platforms of images as indexes of their repos name them, by `repo digest`; none of an image in no index. */
export async function platformsOfImages(db: Database, images: readonly ImageName[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [repo, all] of Map.groupBy(images, (image) => image.repo))
    for (let at = 0; at < all.length; at += ROWS) {
      const some = all.slice(at, at + ROWS).map(({ digest }) => digest);
      const rows = await select<{ content: Uint8Array }>(
        db,
        `select m.content from manifests as m where m.repo = ? and m.size <= ${MAX_INDEX_BYTES} and m.digest in
          (select r.digest from manifest_references as r where r.repo = ? and r.kind = 'manifest' and r.target in (${marks(some)}))
          order by m.create_time desc, m.digest limit ${MAX_INDEXES}`,
        [repo, repo, ...some],
      );
      const wanted = new Set(some);
      for (const { content } of rows)
        for (const { digest, platform } of imagesIn(content)) {
          const name = nameOf({ repo, digest });
          if (platform !== "" && wanted.has(digest) && !found.has(name)) found.set(name, platform);
        }
    }
  return found;
}
