import { SyncState } from "@moorage/api/messages";
import { createTurns } from "../lib/turns.ts";
import { isReservedTag } from "../registry/index.ts";
import { isDigest } from "../oci/index.ts";
import { Code, MoorageError } from "../errors.ts";
import type { SyncSettings } from "../registry/index.ts";
import { type CopyJob, mirrorCall } from "./context.ts";
import { copyManifest, copyReferrers, holds } from "./copy.ts";
import { UpstreamError } from "./errors.ts";
import { followTag } from "./commands.ts";

/** The result of copying a repo's tags. */
export interface CopyResult {
  state: typeof SyncState.SUCCEEDED | typeof SyncState.FAILED | typeof SyncState.RATE_LIMITED;
  /** What went wrong, for the operator; empty when nothing did. */
  message: string;
  /** The number of tags followed. Undefined when the list could not be read. */
  tagsSeen?: number;
  /** How long the source asked not to be sent requests, in milliseconds. */
  retryAfterMs?: number | undefined;
}

const MAX_FOLLOWED = 100_000;
// Values per statement, below the parameter limit of every engine.
const CHUNK = 500;
const MAX_LISTED = 5;
// Tags that cosign and clients of OCI 1.0 make for an image: their names contain its digest.
const COMPANION = /^(sha256)-([0-9a-f]{64})(?:\.(?:sig|att|sbom))?$/;

/**
 * Copies the tags of the source to the repo, one after another; copied tags stay when a later one fails. A tag that the
 * source has deleted is kept here. Throws the signal's reason when it is aborted, and the errors of this server's
 * stores.
 */
export async function copyTags(job: CopyJob, { follows }: Pick<SyncSettings, "follows">): Promise<CopyResult> {
  const stuck: string[] = [];
  const failed: string[] = [];
  let tagsSeen: number | undefined;
  try {
    const { followed, companions } = await listTags(job, follows);
    tagsSeen = followed.length;
    const digests = new Set<string>();
    for (const { tag, before } of await inOrder(job, followed))
      digests.add((await noted(tag, () => copyTag(job, tag, before))) ?? "");
    const wanted = companions.filter(({ digest }) => digests.has(digest)).map(({ tag }) => tag);
    for (const { tag, before } of await inOrder(job, wanted)) await noted(tag, () => copyTag(job, tag, before));
  } catch (error) {
    if (!(error instanceof UpstreamError) || job.signal.aborted) throw error;
    const state = error.kind === "limited" ? SyncState.RATE_LIMITED : SyncState.FAILED;
    return { state, message: error.message, ...counted(), retryAfterMs: error.retryAfterMs };
  }
  const notes = [
    listed("could not be copied", failed),
    listed("moved at the source and must stay as they are here", stuck),
  ];
  const message = notes.filter((text) => text !== "").join("; ");
  return { state: failed.length > 0 ? SyncState.FAILED : SyncState.SUCCEEDED, message, ...counted() };

  function counted(): { tagsSeen?: number } {
    return tagsSeen === undefined ? {} : { tagsSeen };
  }

  /** Records an error that concerns this tag alone, and rethrows any other. */
  async function noted<T>(tag: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (job.signal.aborted) throw error;
      if (error instanceof UpstreamError && error.kind === "wrong") failed.push(`${tag} (${error.message})`);
      else if (
        error instanceof MoorageError &&
        (error.code === Code.FailedPrecondition || error.code === Code.InvalidArgument)
      )
        stuck.push(tag);
      else throw error;
      return undefined;
    }
  }
}

function listed(what: string, tags: string[]): string {
  if (tags.length === 0) return "";
  const more = tags.length > MAX_LISTED ? `, and ${tags.length - MAX_LISTED} more` : "";
  return `${tags.length === 1 ? "1 tag" : `${tags.length} tags`} ${what}: ${tags.slice(0, MAX_LISTED).join(", ")}${more}`;
}

/** The tags to follow, and the tags that belong to digests (`COMPANION`). */
interface Listed {
  followed: string[];
  companions: { tag: string; digest: string }[];
}

async function listTags({ upstream, signal }: CopyJob, follows: SyncSettings["follows"]): Promise<Listed> {
  const followed = new Set<string>();
  const companions = new Map<string, string>();
  const turn = createTurns();
  for await (const names of upstream.tags(signal)) {
    for (const tag of names) {
      const [, algorithm = "", hex = ""] = COMPANION.exec(tag) ?? [];
      const digest = `${algorithm}:${hex}`;
      // A reserved name reads as a tag as of a time, so it could not be pulled.
      if (isReservedTag(tag)) continue;
      if (follows(tag)) followed.add(tag);
      else if (isDigest(digest)) companions.set(tag, digest);
      await turn();
    }
    if (Math.max(followed.size, companions.size) <= MAX_FOLLOWED) continue;
    throw new UpstreamError("wrong", `more than ${MAX_FOLLOWED} tags are to be followed: narrow the tag pattern`);
  }
  return { followed: [...followed], companions: [...companions].map(([tag, digest]) => ({ tag, digest })) };
}

/**
 * The tags with the digests they have here: first the tags that the repo lacks, then the others in random order. With a
 * fixed order, a source that limits the requests of a run would keep the last tags from ever being copied.
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
  const known = [...here]
    .map(([tag, before]) => ({ tag, before, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at);
  return [...tags.filter((tag) => !here.has(tag)).map((tag) => ({ tag, before: "" })), ...known];
}

/**
 * Copies the manifest that the tag points to at the source, unless the repo holds it, and moves the tag. Returns the
 * manifest's digest; undefined when the source has no such tag any more.
 */
async function copyTag(job: CopyJob, tag: string, before: string): Promise<string | undefined> {
  const { deps, place, upstream, signal } = job;
  const digest = await upstream.digestOf(tag, signal);
  if (digest === undefined) return undefined;
  if (await holds(job, digest)) await copyReferrers(job, digest);
  else if (!(await copyAnew(job, digest))) return undefined;
  if (digest === before) return digest;
  const { gone } = await deps.transactor.write(followTag, mirrorCall(deps), {
    ...place,
    tag,
    digest,
    before,
  });
  if (gone) throw new UpstreamError("wrong", "what it points to was deleted here meanwhile");
  return digest;
}

async function copyAnew(job: CopyJob, digest: string): Promise<boolean> {
  const stored = await job.upstream.manifest(digest, job.signal);
  if (stored !== undefined) await copyManifest(job, stored);
  return stored !== undefined;
}
