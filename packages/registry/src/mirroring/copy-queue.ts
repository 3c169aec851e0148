import { setTimeout as wait } from "node:timers/promises";
import { organizationOf } from "@moorage/kernel/lib/uid";
import { isDigest, type StoredManifest } from "../oci/index.ts";
import { followTag } from "./commands.ts";
import { type MirrorDeps, mirrorCall } from "./context.ts";
import type { CopyJob } from "./copy-job.ts";
import { copyManifest, copyReferrers, holds } from "./copy.ts";
import type { Downloads } from "./downloads.ts";
import { companionOf, cosignTagsOf } from "./followed-tags.ts";
import { createReferrerGaps } from "./referrer-gaps.ts";
import type { PullSource } from "./pull-source.ts";

/** Copies manifests that clients pulled through, in the background. */
export interface CopyQueue {
  /**
   * Queues the manifest with all that belongs to it; the tag is moved if it still points to `before`, or made if there
   * is none (`before` is empty). Dropped when the queue is full: the next pull or run copies it.
   */
  add(source: PullSource, reference: string, stored: StoredManifest, before?: string): void;
  /** Queues what refers to a digest that is here. */
  addReferrers(source: PullSource, digest: string): void;
}

interface CopyQueueDeps {
  deps: MirrorDeps;
  downloads: Downloads;
  signal: AbortSignal;
}

const MAX_QUEUED = 1_000;
const CONCURRENCY = 4;
// The most of one organization: its slow sources do not hold up other organizations.
const MAX_OF_ORGANIZATION = 2;
// What has not come by then is left to the next pull or run.
const LONGEST_COPY_MS = 900_000;
// A client that has the manifest asks for its blobs immediately. With this delay its own requests start the downloads,
// and it gets the bytes as they come, instead of waiting for a copy that began before.
const COPY_AFTER_MS = 3_000;

/** A copy that waits. */
interface Waiting {
  organization: string;
  repo: string;
  beginMs: number;
  work(signal: AbortSignal): Promise<void>;
}

export function createCopyQueue(deps: CopyQueueDeps): CopyQueue {
  return new Queue(deps);
}

class Queue implements CopyQueue {
  readonly #deps: CopyQueueDeps;
  readonly #waiting = new Map<string, Waiting>();
  readonly #copying = new Map<string, Waiting>();

  constructor(deps: CopyQueueDeps) {
    this.#deps = deps;
  }

  add(source: PullSource, reference: string, stored: StoredManifest, before = ""): void {
    this.#add(source, reference, (signal) => copy({ ...this.#deps, signal }, source, { reference, stored, before }));
  }

  addReferrers(source: PullSource, digest: string): void {
    this.#add(source, `referrers of ${digest}`, (signal) =>
      copyOnlyReferrers({ ...this.#deps, signal }, source, digest),
    );
  }

  #add(source: PullSource, what: string, work: Waiting["work"]): void {
    const { repo, sync } = source.place;
    const key = `${repo} ${sync} ${what}`;
    if (this.#waiting.has(key) || this.#copying.has(key)) return;
    if (this.#waiting.size >= MAX_QUEUED || this.#deps.signal.aborted) return;
    this.#waiting.set(key, {
      organization: organizationOf(repo),
      repo,
      beginMs: performance.now() + COPY_AFTER_MS,
      work,
    });
    this.#begin();
  }

  /** Begins what waits, in order, as far as the limits let it. */
  #begin(): void {
    for (const [key, waiting] of this.#waiting) {
      if (this.#copying.size >= CONCURRENCY) return;
      const ofIt = [...this.#copying.values()].filter(({ organization }) => organization === waiting.organization);
      if (ofIt.length >= MAX_OF_ORGANIZATION) continue;
      this.#waiting.delete(key);
      this.#copying.set(key, waiting);
      void this.#copy(waiting).finally(() => {
        this.#copying.delete(key);
        this.#begin();
      });
    }
  }

  async #copy({ repo, beginMs, work }: Waiting): Promise<void> {
    const { deps, signal } = this.#deps;
    try {
      await wait(Math.max(0, beginMs - performance.now()), undefined, { signal });
      await work(AbortSignal.any([signal, AbortSignal.timeout(LONGEST_COPY_MS)]));
    } catch (error) {
      if (!signal.aborted)
        deps.log.warn({ repo, problem: error instanceof Error ? error.message : "" }, "copying what was pulled failed");
    }
  }
}

async function copy(
  { deps, downloads, signal }: CopyQueueDeps,
  { upstream, place }: PullSource,
  { reference, stored, before }: { reference: string; stored: StoredManifest; before: string },
): Promise<void> {
  const gaps = createReferrerGaps();
  const job = { deps, downloads, upstream, place, signal, gaps };
  if (await holds(job, stored.digest)) await copyReferrers(job, stored.digest);
  else await copyManifest(job, stored);
  if (!isDigest(reference)) await follow(job, reference, stored, before);
  if (companionOf(reference) === undefined) await copyCosignTags(job, stored.digest);
  if (gaps.count === 0) return;
  deps.metrics.notCopied("referrers", 1);
  deps.log.warn({ repo: place.repo, problem: gaps.last }, "what was pulled came without all that refers to it");
}

/**
 * Copies what may be signatures of a digest: its referrers, and what cosign attached by tags. Answers why some did not
 * come; empty when all did.
 */
export async function copySignatures(
  { deps, downloads, signal }: CopyQueueDeps,
  { upstream, place }: PullSource,
  digest: string,
): Promise<string> {
  const gaps = createReferrerGaps();
  const job = { deps, downloads, upstream, place, signal, gaps };
  await copyReferrers(job, digest);
  await copyCosignTags(job, digest);
  return gaps.last;
}

/** Copies what cosign attached to the digest by tags. What does not come is a gap. */
async function copyCosignTags(job: CopyJob, digest: string): Promise<void> {
  for (const tag of cosignTagsOf(digest)) {
    try {
      const stored = await job.upstream.manifest(tag, job.signal);
      if (stored === undefined) continue;
      if (!(await holds(job, stored.digest))) await copyManifest(job, stored);
      await follow(job, tag, stored);
    } catch (error) {
      job.gaps.note(error, job.signal);
    }
  }
}

async function copyOnlyReferrers(
  { deps, downloads, signal }: CopyQueueDeps,
  { upstream, place }: PullSource,
  digest: string,
): Promise<void> {
  const gaps = createReferrerGaps();
  await copyReferrers({ deps, downloads, upstream, place, signal, gaps }, digest);
}

/** Moves the tag from `before`, or makes it if there is none. */
async function follow({ deps, place }: CopyJob, tag: string, { digest }: StoredManifest, before = ""): Promise<void> {
  await deps.transactor.write(followTag, mirrorCall(deps), { ...place, tag, digest, before });
}
