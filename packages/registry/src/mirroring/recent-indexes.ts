import { isIndexType } from "@moorage/kernel/core/media-types";
import type { Clock } from "@moorage/kernel/lib/clock";
import { createLru } from "@moorage/kernel/lib/lru";
import type { StoredManifest } from "../oci/index.ts";

/** Indexes that came from sources lately: what they name is pulled within moments, before they are copied. */
export interface RecentIndexes {
  note(repo: string, stored: StoredManifest): void;
  /** Those of the repo that name the digest. */
  naming(repo: string, digest: string): StoredManifest[];
}

const MAX_BYTES = 16 << 20;
const KEPT_MS = 15 * 60_000;
/** Of one repo. */
const MAX_OF_REPO = 20;

type Recent = readonly { stored: StoredManifest; untilMs: number }[];

export function createRecentIndexes(clock: Clock): RecentIndexes {
  const recent = createLru<string, Recent>(MAX_BYTES, (all) =>
    all.reduce((sum, { stored }) => sum + 4 * stored.content.byteLength + 1_000, 0),
  );
  const ofRepo = (repo: string): Recent =>
    (recent.get(repo) ?? []).filter(({ untilMs }) => clock.monotonicMs() < untilMs);
  return {
    note(repo, stored) {
      if (!isIndexType(stored.manifest.mediaType)) return;
      const others = ofRepo(repo).filter((each) => each.stored.digest !== stored.digest);
      recent.set(repo, [{ stored, untilMs: clock.monotonicMs() + KEPT_MS }, ...others].slice(0, MAX_OF_REPO));
    },
    naming: (repo, digest) =>
      ofRepo(repo)
        .map(({ stored }) => stored)
        .filter(({ manifest }) => manifest.references.some((each) => each.digest === digest)),
  };
}
