import { createLru } from "@moorage/kernel/lib/lru";
import type { FetchedSignatures, Upstream } from "../oci/index.ts";
import type { MirrorDeps } from "./context.ts";
import { copySignatures } from "./copy-queue.ts";
import type { Downloads } from "./downloads.ts";
import { UpstreamError } from "./errors.ts";
import type { SourceLookup } from "./source-lookup.ts";

interface SignatureDeps {
  deps: MirrorDeps;
  lookup: SourceLookup;
  downloads: Downloads;
  signal: AbortSignal;
}

/** A pull waits so long for them. */
const LONGEST_MS = 10_000;
/** For so long they are not asked for again. */
const AGAIN_MS = 15_000;
const MAX_REMEMBERED = 10_000;

interface Fetching {
  untilMs: number;
  fetched: Promise<FetchedSignatures | undefined>;
}

/** Copies the signatures of what is pulled through, once for all who wait. */
export function createSignatureFetches({ deps, lookup, downloads, signal }: SignatureDeps): Upstream["signatures"] {
  const recent = createLru<string, Fetching>(MAX_REMEMBERED);
  const fetch = async (repo: string, digest: string): Promise<FetchedSignatures | undefined> => {
    const timeout = AbortSignal.timeout(LONGEST_MS);
    const within = AbortSignal.any([signal, timeout]);
    return await lookup({ kind: "manifest", repo, reference: `signatures of ${digest}` }, async (source) => {
      try {
        return { problem: await copySignatures({ deps, downloads, signal: within }, source, digest) };
      } catch (error) {
        if (!timeout.aborted) throw error;
        throw new UpstreamError("wrong", `its signatures did not come within ${LONGEST_MS / 1_000} s`);
      }
    });
  };
  return (repo, digest) => {
    const key = `${repo} ${digest}`;
    const known = recent.get(key);
    if (known !== undefined && deps.clock.monotonicMs() < known.untilMs) return known.fetched;
    const fetched = fetch(repo, digest);
    // What did not come is asked for again by the next pull.
    fetched.then(
      (answer) => void (answer?.problem !== "" && recent.delete(key)),
      () => void recent.delete(key),
    );
    recent.set(key, { fetched, untilMs: deps.clock.monotonicMs() + AGAIN_MS });
    return fetched;
  };
}
