import type { SyncSettings } from "../registry/index.ts";
import { noteTagChecks } from "../upstreams/index.ts";
import { mirrorCall } from "./context.ts";
import type { CopyJob } from "./copy-job.ts";
import { createCopyLog, type CopyLog } from "./copy-log.ts";
import type { CopyResult } from "./copy-result.ts";
import { copyManifest, copyReferrers, holds } from "./copy.ts";
import { copyHistory } from "./copy-history.ts";
import { UpstreamError } from "./errors.ts";
import { type FollowedTags, listedStill, listFollowed } from "./followed-tags.ts";
import { followTag, type TagPast } from "./commands.ts";

// Values per statement, below the parameter limit of every engine.
const CHUNK = 500;

/** The copying of a repo's tags. */
interface Copying {
  job: CopyJob;
  past: CopyOptions["past"];
  log: CopyLog;
  /** The digests that were copied with all that belongs to them, and what was wrong with others. */
  digests: Map<string, UpstreamError | undefined>;
  /** Tags that the source lists, and does not have when it is asked for them. */
  missing: string[];
  /** Tags that were here as they are at the source. */
  unchanged: string[];
  /** Tags that are here as they are at the source, or that it has no longer. */
  settled: Set<string>;
}

/** How the tags of a repo are copied. */
export interface CopyOptions extends Pick<SyncSettings, "follows">, Partial<Pick<SyncSettings, "history">> {
  /** Called with the tags of the source, when they have been listed. */
  listed?(tags: FollowedTags): void;
  /**
   * What a tag pointed to at the source, another Moorage, since its last move here; `isMoved`: whether it points
   * elsewhere. Undefined when that is not known, or did not change.
   */
  past?: ((tag: string, isMoved: boolean) => Promise<TagPast | undefined>) | undefined;
}

/**
 * Copies the tags of the source to the repo, one after another; copied tags stay when a later one fails. A tag that the
 * source has deleted is kept here. Undefined when `pause` was aborted before the last tag: the rest is for another run.
 * Throws the signal's reason when it is aborted, and the errors of this server's stores.
 */
export async function copyTags(
  job: CopyJob,
  { follows, history = false, listed: onListed, past }: CopyOptions,
  pause: AbortSignal,
): Promise<CopyResult | undefined> {
  const log = createCopyLog(job.gaps, job.signal);
  const copying: Copying = { job, past, log, digests: new Map(), missing: [], unchanged: [], settled: new Set() };
  let tagsSeen: number | undefined;
  let wantedTags: string[] = [];
  const withMissing = (result: CopyResult): CopyResult =>
    tagsSeen === undefined
      ? result
      : { ...result, tagsMissing: tagsSeen - wantedTags.filter((tag) => copying.settled.has(tag)).length };
  try {
    const listed = await listFollowed(job, follows);
    const { followed, companions, unstorable, error } = listed;
    onListed?.(listed);
    tagsSeen = followed.length + unstorable.length;
    wantedTags = followed;
    for (const { tag, reason } of unstorable) log.failed(tag, "wrong", reason);
    const found = await copyAll(copying, followed, pause);
    // Also of images whose tags may not follow: a policy of signatures lets them once their signatures are here.
    const wanted = companions.filter(({ digest }) => copying.digests.has(digest)).map(({ tag }) => tag);
    if (found === undefined || (await copyAll(copying, wanted, pause)) === undefined) return undefined;
    await noteUnchanged(copying);
    await judgeMissing(copying);
    if (history && !(await copyHistory(job, log, pause))) return undefined;
    return withMissing(log.result({ tagsSeen, ...emptiness(listed), ...(error && { error }) }));
  } catch (error) {
    if (!(error instanceof UpstreamError) || job.signal.aborted) throw error;
    return withMissing(log.result({ ...(tagsSeen !== undefined && { tagsSeen }), error }));
  }
}

/** That there is nothing to follow, which is neither a success nor a failure. */
function emptiness({ followed, unstorable, count }: FollowedTags): { isEmpty?: boolean; note?: string } {
  if (followed.length + unstorable.length > 0) return {};
  const note = count === 0 ? "the source lists no tags" : `none of the source's ${count} tags matches the tag pattern`;
  return { isEmpty: true, note };
}

/** Copies the tags. Returns the digests that they point to; undefined when it paused. */
async function copyAll(copying: Copying, tags: string[], pause: AbortSignal): Promise<Set<string> | undefined> {
  const digests = new Set<string>();
  for (const { tag, before } of await inOrder(copying.job, tags)) {
    if (pause.aborted) return undefined;
    digests.add((await copying.log.copy(tag, before, () => copyTag(copying, tag, before))) ?? "");
  }
  return digests;
}

/** Notes that tags were compared with those of a registry that a group stands for; moved ones are noted by the move. */
async function noteUnchanged({ job: { deps, place }, unchanged }: Copying): Promise<void> {
  const { repo, upstream } = place;
  if (upstream === undefined) return;
  for (let at = 0; at < unchanged.length; at += CHUNK) {
    const tags = unchanged.slice(at, at + CHUNK);
    await deps.transactor.write(noteTagChecks, mirrorCall(deps), { repo, upstream, tags });
  }
}

/** A tag that the source lists still, and does not have, is a failure; one that it lists no more was deleted there. */
async function judgeMissing({ job, log, missing, settled }: Copying): Promise<void> {
  if (missing.length === 0) return;
  const still = await listedStill(job, missing).catch((error: unknown) => {
    if (!(error instanceof UpstreamError) || job.signal.aborted) throw error;
    return new Set(missing);
  });
  for (const tag of missing)
    if (still.has(tag)) log.failed(tag, "missing", "the source lists it, and answers 404");
    else {
      log.gone(tag);
      settled.add(tag);
    }
}

/**
 * The tags with the digests they have here: first the tags that the repo lacks, then the others, both in random order.
 * With a fixed order, a source that limits the requests of a run, or fails for some tags, would keep the last ones from
 * ever being copied.
 */
async function inOrder({ deps, place }: CopyJob, tags: string[]): Promise<{ tag: string; before: string }[]> {
  const here = new Map<string, string>();
  for (let at = 0; at < tags.length; at += CHUNK) {
    const rows = await deps.transactor.read(mirrorCall(deps), (call) =>
      call.tx
        .selectFrom("tags")
        .select(["name", "digest"])
        .where("parent", "=", place.repo)
        .where("name", "in", tags.slice(at, at + CHUNK))
        .execute(),
    );
    for (const { name, digest } of rows) here.set(name, digest);
  }
  const fresh = tags.filter((tag) => !here.has(tag)).map((tag) => ({ tag, before: "" }));
  return [...shuffled(fresh), ...shuffled([...here].map(([tag, before]) => ({ tag, before })))];
}

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ value }) => value);
}

/**
 * Copies the manifest that the tag points to at the source, unless the repo holds it, and moves the tag. Returns the
 * manifest's digest; undefined when the source has no such tag.
 */
async function copyTag(copying: Copying, tag: string, before: string): Promise<string | undefined> {
  const { deps, place } = copying.job;
  const digest = await copyContent(copying, tag);
  if (digest === undefined) copying.missing.push(tag);
  if (digest === undefined) return undefined;
  const past = await copying.past?.(tag, digest !== before);
  if (digest === before && past === undefined) {
    copying.unchanged.push(tag);
    copying.settled.add(tag);
    return digest;
  }
  const { gone, kept = false } = await deps.transactor.write(followTag, mirrorCall(deps), {
    ...place,
    tag,
    digest,
    before,
    past,
  });
  if (kept) copying.log.kept(tag);
  if (gone) throw new UpstreamError("wrong", "what it points to was deleted here meanwhile");
  copying.settled.add(tag);
  return digest;
}

/**
 * Copies what the tag points to, once for all tags that point to it. Returns the manifest's digest; undefined when the
 * source has no such tag.
 */
async function copyContent(copying: Copying, tag: string): Promise<string | undefined> {
  const { job, digests } = copying;
  const resolved = await job.upstream.resolve(tag, job.signal);
  if (resolved === undefined) return undefined;
  const { digest } = resolved;
  if (digests.has(digest)) return judged(copying, digest);
  if (await holds(job, digest)) {
    await copyReferrers(job, digest);
    digests.set(digest, undefined);
    return digest;
  }
  const stored = resolved.stored ?? (await manifestOf(job, tag, digest));
  if (stored === undefined) return undefined;
  if (digests.has(stored.digest)) return judged(copying, stored.digest);
  try {
    await copyManifest(job, stored);
    digests.set(stored.digest, undefined);
  } catch (error) {
    if (error instanceof UpstreamError && error.kind === "wrong") digests.set(stored.digest, error);
    throw error;
  }
  return stored.digest;
}

/** The digest, which another tag pointed to. Throws what was wrong with it then. */
function judged({ digests }: Copying, digest: string): string {
  const error = digests.get(digest);
  if (error !== undefined) throw error;
  return digest;
}

/**
 * The manifest of a tag: by the tag, so that its bytes show what the tag points to, or else by the digest that the
 * source names. Undefined when it has neither. Throws an UpstreamError when the source keeps naming another digest than
 * that of the bytes.
 */
async function manifestOf({ upstream, signal }: CopyJob, tag: string, digest: string) {
  const stored = (await upstream.manifest(tag, signal)) ?? (await upstream.manifest(digest, signal));
  if (stored === undefined || stored.digest === digest) return stored;
  // The tag may have moved in between.
  const again = await upstream.resolve(tag, signal);
  if (again?.digest === stored.digest) return stored;
  throw new UpstreamError("wrong", "the source names another digest than that of the manifest it sends");
}
