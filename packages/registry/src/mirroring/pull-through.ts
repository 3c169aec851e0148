import type { Clock } from "@moorage/kernel/lib/clock";
import { createLru } from "@moorage/kernel/lib/lru";
import { isDigest, type StoredManifest, type Upstream } from "../oci/index.ts";
import type { MirrorDeps } from "./context.ts";
import type { CopyQueue } from "./copy-queue.ts";
import type { Downloads } from "./downloads.ts";
import { createSignatureFetches } from "./fetch-signatures.ts";
import { companionOf } from "./followed-tags.ts";
import type { PullSource } from "./pull-source.ts";
import { createRecentIndexes } from "./recent-indexes.ts";
import type { SourceLookup } from "./source-lookup.ts";

interface PullThroughDeps {
  deps: MirrorDeps;
  lookup: SourceLookup;
  downloads: Downloads;
  copies: CopyQueue;
  signal: AbortSignal;
}

// A client asks for a manifest by its tag and by its digest, and for its children, within moments.
const MANIFEST_MS = 15_000;
const MAX_MANIFEST_BYTES = 16 << 20;
const MAX_SIZES = 20_000;
const LONGEST_BLOB_MS = 3_600_000;

/**
 * Fetches content that a repo lacks from the repo's own source when it is pulled. Content that the repo holds is never
 * asked for there.
 */
export function createPullThrough({ deps, lookup, downloads, copies, signal }: PullThroughDeps): Upstream {
  const manifests = createManifestCache(deps.clock);
  const sizes = createSizes();
  const indexes = createRecentIndexes(deps.clock);

  return {
    manifest: (repo, reference) =>
      lookup({ kind: "manifest", repo, reference }, async (source) => {
        if (!isDigest(reference) && !isPulled(source, reference)) return undefined;
        const stored = manifests.get(source, reference) ?? (await source.upstream.manifest(reference, signal));
        if (stored === undefined) return undefined;
        manifests.set(source, reference, stored);
        sizes.note(source, stored);
        indexes.note(repo, stored);
        copies.add(source, reference, stored);
        return stored;
      }),
    blobSize: (repo, digest) =>
      lookup(
        { kind: "blob", repo, reference: digest },
        async (source) => await source.upstream.blobSize(digest, sizes.get(source, digest), signal),
      ),
    async blob(repo, digest, begin) {
      const within = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_BLOB_MS)]);
      const found = await lookup({ kind: "blob", repo, reference: digest }, async (source) => {
        const { upstream, place } = source;
        const likelySize = sizes.get(source, digest);
        return (await downloads.fetch({ place, upstream, digest, likelySize, signal: within, begin })) || undefined;
      });
      return found ?? false;
    },
    signatures: createSignatureFetches({ deps, lookup, downloads, signal }),
    indexesOf: indexes.naming,
    noteIndex: indexes.note,
  };
}

/** Whether a tag is pulled through: one that is followed, or is attached to an image, as signatures are. */
function isPulled({ settings }: PullSource, tag: string): boolean {
  return settings.follows(tag) || companionOf(tag) !== undefined;
}

/** The sizes of blobs that manifests named lately: not every source says them. */
interface Sizes {
  get(source: PullSource, digest: string): number | undefined;
  note(source: PullSource, stored: StoredManifest): void;
}

function createSizes(): Sizes {
  const known = createLru<string, number>(MAX_SIZES);
  return {
    get: ({ place }, digest) => known.get(`${place.repo} ${digest}`),
    note({ place }, { manifest }) {
      for (const { kind, digest, size } of manifest.references)
        if (kind === "blob") known.set(`${place.repo} ${digest}`, size);
    },
  };
}

/** Manifests that were fetched lately, by tag and by digest. */
interface ManifestCache {
  get(source: PullSource, reference: string): StoredManifest | undefined;
  /** Caches the manifest under the reference and under its digest. */
  set(source: PullSource, reference: string, stored: StoredManifest): void;
}

function createManifestCache(clock: Clock): ManifestCache {
  const cached = createLru<string, { stored: StoredManifest; untilMs: number }>(MAX_MANIFEST_BYTES, weightOf);
  const keyOf = ({ place }: PullSource, name: string): string => `${place.repo} ${place.sync} ${name}`;
  return {
    get(source, reference) {
      const found = cached.get(keyOf(source, reference));
      return found !== undefined && clock.monotonicMs() < found.untilMs ? found.stored : undefined;
    },
    set(source, reference, stored) {
      for (const name of new Set([reference, stored.digest]))
        cached.set(keyOf(source, name), { stored, untilMs: clock.monotonicMs() + MANIFEST_MS });
    },
  };
}

/** The approximate bytes in memory of a cached manifest: its content and what was parsed from it. */
function weightOf({ stored }: { stored: StoredManifest }): number {
  return 4 * stored.content.byteLength + 1_000;
}
