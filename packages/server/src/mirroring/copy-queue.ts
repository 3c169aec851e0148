import { setTimeout as wait } from "node:timers/promises";
import { isDigest, type StoredManifest } from "../oci/index.ts";
import { followTag } from "./commands.ts";
import { type MirrorDeps, mirrorCall } from "./context.ts";
import { copyManifest, holds } from "./copy.ts";
import type { Downloads } from "./downloads.ts";
import type { PullSource } from "./source-lookup.ts";

/** Copies manifests that clients pulled through, in the background. */
export interface CopyQueue {
  /**
   * Queues the manifest with all that belongs to it; the tag is made if there is none. Dropped when the queue is full:
   * the next pull or run copies it.
   */
  add(source: PullSource, reference: string, stored: StoredManifest): void;
}

interface CopyQueueDeps {
  deps: MirrorDeps;
  downloads: Downloads;
  signal: AbortSignal;
}

const MAX_QUEUED = 1_000;
const CONCURRENCY = 2;
// A client that has the manifest asks for its blobs immediately. With this delay its own requests start the downloads,
// and it gets the bytes as they come, instead of waiting for a copy that began before.
const COPY_AFTER_MS = 3_000;

export function createCopyQueue(deps: CopyQueueDeps): CopyQueue {
  return new Queue(deps);
}

class Queue implements CopyQueue {
  readonly #deps: CopyQueueDeps;
  readonly #waiting = new Map<string, () => Promise<void>>();
  readonly #copying = new Set<string>();
  #workers = 0;

  constructor(deps: CopyQueueDeps) {
    this.#deps = deps;
  }

  add(source: PullSource, reference: string, stored: StoredManifest): void {
    const { signal } = this.#deps;
    const key = `${source.place.repo} ${source.place.sync} ${reference}`;
    if (this.#waiting.has(key) || this.#copying.has(key) || this.#waiting.size >= MAX_QUEUED || signal.aborted) return;
    const beginMs = performance.now() + COPY_AFTER_MS;
    this.#waiting.set(key, async () => {
      await wait(Math.max(0, beginMs - performance.now()), undefined, { signal });
      await copy(this.#deps, source, reference, stored);
    });
    void this.#work();
  }

  /** Copies what waits, one after another, unless enough workers do so already. */
  async #work(): Promise<void> {
    const { deps, signal } = this.#deps;
    if (this.#workers >= CONCURRENCY) return;
    this.#workers += 1;
    try {
      for (const [key, work] of this.#waiting) {
        if (signal.aborted) return;
        this.#waiting.delete(key);
        this.#copying.add(key);
        await work().catch((error: unknown) => {
          if (!signal.aborted)
            deps.log.warn({ problem: error instanceof Error ? error.message : "" }, "copying what was pulled failed");
        });
        this.#copying.delete(key);
      }
    } finally {
      this.#workers -= 1;
    }
  }
}

async function copy(
  { deps, downloads, signal }: CopyQueueDeps,
  { upstream, place }: PullSource,
  reference: string,
  stored: StoredManifest,
): Promise<void> {
  const job = { deps, downloads, upstream, place, signal };
  if (!(await holds(job, stored.digest))) await copyManifest(job, stored);
  if (isDigest(reference)) return;
  const tag = { ...place, tag: reference, digest: stored.digest, before: "" };
  await deps.transactor.write(followTag, mirrorCall(deps), tag);
}
