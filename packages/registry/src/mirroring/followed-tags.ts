import { createTurns } from "@moorage/kernel/lib/turns";
import { isDigest, isTag } from "../oci/index.ts";
import { isReservedTag, type SyncSettings } from "../registry/index.ts";
import type { CopyJob } from "./copy-job.ts";
import { UpstreamError } from "./errors.ts";

/** The tags of a source. */
export interface FollowedTags {
  /** Those to follow. */
  followed: string[];
  /** Tags that are not to be followed by their names, and belong to the digest in it. */
  companions: { tag: string; digest: string }[];
  /** Tags that would be followed, and cannot be here, by their names; with why. */
  unstorable: { tag: string; reason: string }[];
  /** How many tags the source lists. */
  count: number;
  /** Why there may be more of them. Undefined when these are all. */
  error: UpstreamError | undefined;
}

const MAX_FOLLOWED = 100_000;
// Tags that cosign and clients of OCI 1.0 make for an image: their names contain its digest.
const COMPANION = /^(sha256)-([0-9a-f]{64})(?:\.(?:sig|att|sbom))?$/;
const COSIGN_ENDS = [".sig", ".att", ".sbom"];

/** The digest of the image that a tag of cosign's, or a referrers tag, belongs to. Undefined for other tags. */
export function companionOf(tag: string): string | undefined {
  const [, algorithm = "", hex = ""] = COMPANION.exec(tag) ?? [];
  const digest = `${algorithm}:${hex}`;
  return isDigest(digest) ? digest : undefined;
}

/** The tags by which cosign attaches signatures, attestations and SBOMs to the digest. */
export function cosignTagsOf(digest: string): string[] {
  return digest.startsWith("sha256:") ? COSIGN_ENDS.map((end) => `${digest.replace(":", "-")}${end}`) : [];
}

/**
 * Lists the tags of the source. What is wrong with its list is answered with the tags that came before it. Throws an
 * UpstreamError when the source fails, or has too many tags to follow.
 */
export async function listFollowed(
  { upstream, signal }: Pick<CopyJob, "upstream" | "signal">,
  follows: SyncSettings["follows"],
): Promise<FollowedTags> {
  const followed = new Set<string>();
  const companions = new Map<string, string>();
  const unstorable = new Map<string, string>();
  const others = { count: 0 };
  const turn = createTurns();
  let error: UpstreamError | undefined;
  try {
    for await (const names of upstream.tags(signal)) {
      for (const tag of names) {
        const companion = companionOf(tag);
        const reason = unstorableReason(tag);
        if (reason !== undefined && follows(tag)) unstorable.set(printed(tag), reason);
        else if (reason !== undefined) others.count += 1;
        else if (follows(tag)) followed.add(tag);
        else if (companion !== undefined) companions.set(tag, companion);
        else others.count += 1;
        await turn();
      }
      if (Math.max(followed.size, companions.size, unstorable.size) <= MAX_FOLLOWED) continue;
      throw new TooMany("wrong", `more than ${MAX_FOLLOWED} tags are to be followed: narrow the tag pattern`);
    }
  } catch (thrown) {
    if (!(thrown instanceof UpstreamError) || thrown instanceof TooMany || thrown.kind !== "wrong" || signal.aborted)
      throw thrown;
    if (followed.size === 0) throw thrown;
    error = thrown;
  }
  return {
    followed: [...followed],
    companions: [...companions].map(([tag, digest]) => ({ tag, digest })),
    unstorable: [...unstorable].map(([tag, reason]) => ({ tag, reason })),
    count: followed.size + companions.size + unstorable.size + others.count,
    error,
  };
}

class TooMany extends UpstreamError {}

/** Why a tag of the source cannot be here, by its name. Undefined for other names. */
function unstorableReason(tag: string): string | undefined {
  if (!isTag(tag)) return "no tag may have such a name";
  // It could not be pulled.
  return isReservedTag(tag) ? "the name reads as a tag as of a time" : undefined;
}

/** A name that others made up, for messages. */
function printed(tag: string): string {
  return tag.replace(/[^\x20-\x7e]/g, "?");
}

/** Those of the tags that the source lists. */
export async function listedStill(
  { upstream, signal }: Pick<CopyJob, "upstream" | "signal">,
  tags: readonly string[],
): Promise<Set<string>> {
  const wanted = new Set(tags);
  const found = new Set<string>();
  const turn = createTurns();
  for await (const names of upstream.tags(signal))
    for (const tag of names) {
      if (wanted.has(tag)) found.add(tag);
      await turn();
    }
  return found;
}
