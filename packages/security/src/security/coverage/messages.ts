import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  type CoverageSchema,
  KnowledgeState,
  type StaleFeedSchema,
  type UnknownFindingsSchema,
  type UnknownImageOfRepoSchema,
} from "@moorage/api/messages";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { leastKnown, type PlatformKnowledge } from "./index-knowledge.ts";
import type { StaleFeed } from "./stale-feeds.ts";
import type { UnknownImageOfRepo } from "./list-unknown.ts";
import type { Uncompared } from "./uncompared-packages.ts";

/** What a list of findings says of an image whose findings are not known. */
export function unknownMessage(image: PlatformKnowledge): MessageInitShape<typeof UnknownFindingsSchema> {
  return fieldsOf(image);
}

function fieldsOf({ digest, platform, reason, waits, state, coverage: { uncovered }, unreadFiles }: PlatformKnowledge) {
  return { digest, platform, reason, waits, state: KnowledgeState[state], uncovered, unreadFiles };
}

/** What the list of images that are not known says of one. */
export function unknownImageMessage({
  repo,
  digest,
  tags,
  platform,
  known,
}: UnknownImageOfRepo): MessageInitShape<typeof UnknownImageOfRepoSchema> {
  const { state, reason, waits } = known;
  return { repo, digest, tags: tags.names, platform, state: KnowledgeState[state], reason, waits };
}

/** A feed that is older than its own interval. */
export function staleMessage({ feed, successMs, intervalMs }: StaleFeed): MessageInitShape<typeof StaleFeedSchema> {
  return {
    feed,
    ...(successMs !== null && { successTime: timestamp(successMs) }),
    interval: durationFromMs(intervalMs),
  };
}

/** What is known of images, with the files that could not be read and the packages that could not be compared. */
export function coverageMessage(
  images: readonly PlatformKnowledge[],
  uncompared: readonly Uncompared[],
  stale: readonly StaleFeed[],
): MessageInitShape<typeof CoverageSchema> {
  return {
    state: KnowledgeState[leastKnown(images) ?? "UNSPECIFIED"],
    images: images.map((image, at) => ({
      ...fieldsOf(image),
      packages: image.coverage.packages,
      notCompared: uncompared[at]?.count ?? 0,
      packagesNotCompared: uncompared[at]?.packages ?? [],
      covered: image.coverage.covered.map(({ feeds, ...rest }) => ({
        ...rest,
        feeds: feeds.map(({ feed, records, successMs }) => ({
          feed,
          ...(records !== undefined && { records: BigInt(records) }),
          successTime: timestamp(successMs),
        })),
      })),
      files: image.files.map(({ path, layer, reason }) => ({ path, layer, reason })),
    })),
    staleFeeds: stale.map(staleMessage),
  };
}
