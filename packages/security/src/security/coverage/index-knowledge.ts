import { createTurns } from "@moorage/kernel/lib/turns";
import type { GatedImage } from "@moorage/registry/registry";
import type { Database } from "@moorage/kernel/store";
import { FeedStates } from "./compared-feeds.ts";
import { manifestsBehind, platformsIn } from "./images.ts";
import { type ImageKnowledge, knowledgeOf } from "./image-knowledge.ts";

/** What is known of an image, with its platform as an index names it; empty when none does. */
export interface PlatformKnowledge extends ImageKnowledge {
  platform: string;
}

/** What is known of each of the images that a manifest of the repo stands for. */
export async function knowledgeBehind(tx: Database, image: GatedImage): Promise<PlatformKnowledge[]> {
  const { all, isWhole } = await manifestsBehind(tx, image);
  const platforms = platformsIn(all.flatMap(({ manifest }) => manifest ?? []));
  const feeds = new FeedStates(tx);
  const turn = createTurns();
  const found: PlatformKnowledge[] = [];
  for (const { digest, manifest } of all) {
    await turn();
    const known = await knowledgeOf(tx, { repo: image.repo, digest }, manifest, feeds);
    if (known !== undefined) found.push({ ...known, platform: platforms.get(digest) ?? "" });
  }
  if (!isWhole)
    found.push({
      digest: image.digest,
      platform: "",
      state: "NOT_READ",
      reason: "not all that it names was looked at",
      waits: false,
      coverage: { packages: 0, uncovered: [], covered: [], waiting: 0, unreadable: 0, spaces: [] },
      sources: [],
      files: [],
      unreadFiles: 0,
    });
  return found;
}

const ORDER = ["NOT_READ", "NO_DATA", "READ"] as const;

/** The least that is known of any of these; undefined where there is no image among them. */
export function leastKnown(images: readonly Pick<ImageKnowledge, "state">[]): ImageKnowledge["state"] | undefined {
  return ORDER.find((state) => images.some((image) => image.state === state));
}

/**
 * The least that is known of the images that a manifest of the repo stands for, and why; empty of what is no image.
 * `spaces`: the key spaces of their packages.
 */
export async function stateOfImages(
  tx: Database,
  image: GatedImage,
): Promise<{ state: string; reason: string; spaces: string[] }> {
  const images = await knowledgeBehind(tx, image);
  const state = leastKnown(images);
  const reasons = images
    .filter((each) => each.state !== "READ")
    .map(({ platform, reason }) => (platform === "" ? reason : `${platform}: ${reason}`));
  const spaces = [...new Set(images.flatMap(({ coverage }) => coverage.spaces))];
  return { state: state ?? "", reason: reasons.slice(0, MAX_REASONS).join("; "), spaces };
}

const MAX_REASONS = 10;
