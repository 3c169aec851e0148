// How much content comes: each digest once, whatever names it.
import type { Descriptor, ManifestReader } from "./registry-reader.ts";
import { SourceError } from "./source-error.ts";

/** Adds up content. */
export interface ContentSizes {
  /** Adds what the digest needs, and what refers to it. Throws a SourceError when its manifest cannot be read. */
  add(repo: string, digest: string): Promise<void>;
  /** The bytes so far. */
  bytes(): number;
  /** How much content: blobs and manifests. */
  count(): number;
  /** Whether there is more than was counted. */
  isAtLeast(): boolean;
}

const MAX_COUNTED = 2_000_000;
const MAX_DEPTH = 8;

export function openContentSizes(reader: ManifestReader): ContentSizes {
  const sizes = new Map<string, number>();
  let total = 0;
  let isAtLeast = false;
  let hasReferrers = true;
  const note = (digest: string, size: number): boolean => {
    if (sizes.has(digest)) return false;
    if (sizes.size >= MAX_COUNTED) {
      isAtLeast = true;
      return false;
    }
    sizes.set(digest, size);
    total += size;
    return true;
  };
  const addManifest = async (repo: string, digest: string, depth: number): Promise<void> => {
    if (sizes.has(digest)) return;
    if (depth > MAX_DEPTH) throw new SourceError(`manifests are nested more than ${MAX_DEPTH} levels deep`);
    const { size, names } = await reader.manifest(repo, digest);
    if (!note(digest, size)) return;
    for (const each of names) if (!each.isManifest) note(each.digest, each.size);
    for (const each of names) if (each.isManifest) await addChild(repo, each, depth + 1);
    await addReferrers(repo, digest, depth + 1);
  };
  /** An index may leave out platforms that are not here, and a referrer may be gone. */
  const addChild = async (repo: string, { digest }: Descriptor, depth: number): Promise<void> => {
    try {
      await addManifest(repo, digest, depth);
    } catch (error) {
      if (!(error instanceof SourceError) || error.status !== 404) throw error;
      isAtLeast = true;
    }
  };
  const addReferrers = async (repo: string, digest: string, depth: number): Promise<void> => {
    if (!hasReferrers) return;
    const found = await reader.referrers(repo, digest);
    if (found === undefined) hasReferrers = false;
    for (const each of found ?? []) await addChild(repo, each, depth);
  };
  return {
    add: (repo, digest) => addManifest(repo, digest, 0),
    bytes: () => total,
    count: () => sizes.size,
    isAtLeast: () => isAtLeast,
  };
}
