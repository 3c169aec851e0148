import type { GatedImage, UnknownImage } from "../../registry/index.ts";
import { createTurns } from "../../lib/turns.ts";
import type { Database } from "../../store/index.ts";
import { manifestsBehind, platformsIn } from "./images.ts";
import { unknownOf } from "./unknown.ts";

/** An image of which it is not known what it holds, with its platform as an index names it; empty when none does. */
export interface UnknownPlatform extends UnknownImage {
  platform: string;
}

/** Those of the images that a manifest of the repo stands for of which it is not known what they hold. */
export async function unknownImagesOf(tx: Database, image: GatedImage): Promise<UnknownPlatform[]> {
  const { all, isWhole } = await manifestsBehind(tx, image);
  const platforms = platformsIn(all.flatMap(({ manifest }) => manifest ?? []));
  const turn = createTurns();
  const found: UnknownPlatform[] = [];
  for (const { digest, manifest } of all) {
    await turn();
    const unknown = await unknownOf(tx, { repo: image.repo, digest }, manifest);
    if (unknown !== undefined) found.push({ ...unknown, platform: platforms.get(digest) ?? "" });
  }
  if (!isWhole)
    found.push({ digest: image.digest, platform: "", reason: "not all that it names was looked at", waits: false });
  return found;
}
