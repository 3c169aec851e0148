import type { Call } from "@moorage/kernel/core/call";
import type { ServedInstallation } from "@moorage/kernel/core/service";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { type Collected, collectGarbage } from "@moorage/registry/oci";

const MAX_REPOS = 100;
const TIMEOUT_MS = 50_000;

/** What a collection would remove now. */
export interface GarbagePreview extends Collected {
  /** Those with the most bytes, at most 100. */
  repos: (Collected & { name: string })[];
  /** How many repos have something to be removed. */
  repoCount: number;
}

/**
 * Counts what a collection would remove, one count at a time in this process. Throws RESOURCE_EXHAUSTED while another
 * one is under way, and when it takes longer than 50 seconds: `moorage gc --dry-run` has no limit.
 */
export function createGarbagePreview({
  gcGraceMs: graceMs,
  uploadTtlMs,
}: ServedInstallation): (call: Call) => Promise<GarbagePreview> {
  let isRunning = false;
  return async (call) => {
    if (isRunning)
      throw new MoorageError(Code.ResourceExhausted, "Resource exhausted: another count of garbage is under way", {
        retryAfterMs: 5_000,
      });
    isRunning = true;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      return await count(call, { nowMs: call.nowMs, graceMs, uploadTtlMs, signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new MoorageError(
        Code.ResourceExhausted,
        "Resource exhausted: there is too much to count in 50 seconds; moorage gc --dry-run has no limit",
      );
    } finally {
      isRunning = false;
    }
  };
}

async function count(
  call: Call,
  options: { nowMs: number; graceMs: number; uploadTtlMs: number; signal: AbortSignal },
): Promise<GarbagePreview> {
  let repos: GarbagePreview["repos"] = [];
  let repoCount = 0;
  const onlyReads = async (): Promise<never> => {
    throw new Error("a dry run removes nothing");
  };
  const total = await collectGarbage(
    {
      transactor: {
        read: async (_, work) => {
          call.requireCaller();
          return await work(call);
        },
        write: onlyReads,
      },
      blobs: { remove: onlyReads },
    },
    {
      ...options,
      dryRun: true,
      onRepo(name, collected) {
        repoCount += 1;
        repos.push({ name, ...collected });
        if (repos.length > 2 * MAX_REPOS) repos = largest(repos);
      },
    },
  );
  return { ...total, repos: largest(repos), repoCount };
}

function largest(repos: GarbagePreview["repos"]): GarbagePreview["repos"] {
  return repos
    .toSorted((one, other) => other.bytes - one.bytes || (one.name < other.name ? -1 : 1))
    .slice(0, MAX_REPOS);
}
