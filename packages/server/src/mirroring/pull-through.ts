import { setTimeout as wait } from "node:timers/promises";
import { createLru } from "../lib/lru.ts";
import type { MirrorPlace } from "./commands.ts";
import { isDigest, type StoredManifest, type Upstream } from "../oci/index.ts";
import { Code, MoorageError } from "../errors.ts";
import { statement } from "../store/index.ts";
import { type MirrorDeps, mirrorCall } from "./context.ts";
import { copyManifest, holds } from "./copy.ts";
import type { Downloads } from "./downloads.ts";
import type { createSources, Source } from "./sources.ts";
import { UpstreamError } from "./errors.ts";
import { followTag } from "./commands.ts";

interface PullThroughDeps {
  deps: MirrorDeps;
  sources: ReturnType<typeof createSources>;
  downloads: Downloads;
  signal: AbortSignal;
}

// Asked at every look for what is not here, which pushes begin with.
const selectSource = statement<{ password: string; sync_config: string | null }>(
  "select m.password, r.sync_config from mirrors as m join repos as r on r.uid = m.repo where m.repo = ?",
);

/** A repo that is pulled through, and where its content goes. */
interface Through extends Source {
  place: MirrorPlace;
}

const MAX_UNDER_WAY = 64;
const MAX_REMEMBERED = 10_000;
// For so long what the source did not have is not asked for again, nor a source that gave trouble.
const MISSING_MS = 15_000;
const TROUBLE_MS = 5_000;
// A client asks for a manifest by its tag, by its digest, and for its children in a moment.
const MANIFEST_MS = 15_000;
const MAX_MANIFEST_BYTES = 16 << 20;
const MAX_QUEUED = 1_000;
const COPIES_AT_ONCE = 2;
// A client that has the manifest asks for its blobs at once: then it gets them while they come, and need not wait for a
// copying that began before.
const COPY_AFTER_MS = 3_000;
const LONGEST_BLOB_MS = 3_600_000;
const MOST_RETRY_AFTER_MS = 3_600_000;

// The bytes, and what was read in them.
const weightOf = ({ stored }: { stored: StoredManifest }): number => 4 * stored.content.byteLength + 1_000;

/**
 * Fetches what a repo does not hold when it is pulled, from its own source and nowhere else. What is here is never
 * asked for there.
 */
export function createPullThrough({ deps, sources, downloads, signal }: PullThroughDeps): Upstream {
  const { transactor, clock, metrics, log } = deps;
  const missing = createLru<string, number>(MAX_REMEMBERED);
  const troubles = createLru<string, { error: MoorageError; untilMs: number }>(MAX_REMEMBERED);
  const manifests = createLru<string, { stored: StoredManifest; untilMs: number }>(MAX_MANIFEST_BYTES, weightOf);
  const waiting = new Map<string, () => Promise<void>>();
  const copying = new Set<string>();
  let copies = 0;
  let underWay = 0;

  const throughOf = async (repo: string): Promise<Through | undefined> => {
    const [row] = await transactor.read(mirrorCall(deps), (call) => selectSource(call.tx, repo));
    if (row === undefined) return undefined;
    const sync = row.sync_config ?? "";
    const source = sources({ repo, sync, password: row.password });
    return source?.settings.pullThrough === true ? { ...source, place: { repo, sync } } : undefined;
  };

  /**
   * Asks the source of the repo for one thing. What it lately did not have, and that it lately gave trouble, is
   * remembered.
   */
  const ask = async <T>(
    kind: "manifest" | "blob",
    repo: string,
    reference: string,
    work: (through: Through) => Promise<T | undefined>,
  ): Promise<T | undefined> => {
    const nowMs = clock.nowMs();
    const what = `${kind} ${reference}`;
    let through: Through | undefined;
    let outcome = "trouble";
    try {
      through = await throughOf(repo);
      if (through === undefined) return undefined;
      const { sync } = through.place;
      const trouble = troubles.get(`${repo} ${sync}`) ?? troubles.get(`${repo} ${sync} ${what}`);
      if (trouble !== undefined && nowMs < trouble.untilMs) throw trouble.error;
      outcome = "missing";
      if (nowMs < (missing.get(`${repo} ${sync} ${what}`) ?? 0)) return undefined;
      if (underWay >= MAX_UNDER_WAY)
        throw new MoorageError(Code.Unavailable, "Unavailable: too much is being fetched from sources", {
          retryAfterMs: 1_000,
        });
      underWay += 1;
      try {
        const found = await work(through);
        if (found === undefined) missing.set(`${repo} ${sync} ${what}`, clock.nowMs() + MISSING_MS);
        else outcome = "found";
        return found;
      } finally {
        underWay -= 1;
      }
    } catch (error) {
      outcome = "trouble";
      if (!(error instanceof UpstreamError)) throw error;
      const retryAfterMs = Math.min(error.retryAfterMs ?? TROUBLE_MS, MOST_RETRY_AFTER_MS);
      const told = new MoorageError(
        Code.Unavailable,
        `Unavailable: it is not here, and cannot be fetched: ${error.message}`,
        { retryAfterMs, cause: error },
      );
      const key = `${repo} ${through?.place.sync ?? ""}`;
      // What is wrong with one thing says nothing of the others.
      const forMs = error.kind === "limited" ? retryAfterMs : TROUBLE_MS;
      troubles.set(error.kind === "wrong" ? `${key} ${what}` : key, { error: told, untilMs: clock.nowMs() + forMs });
      log.warn({ repo, kind, problem: error.message }, "fetching from a source failed");
      throw told;
    } finally {
      if (through !== undefined) metrics.pulled(kind, outcome);
    }
  };

  /**
   * Has the manifest copied with all that belongs to it, beside the pulls; the tag is made if there is none. When too
   * much waits, the next pull or turn does it.
   */
  const copySoon = (through: Through, reference: string, stored: StoredManifest): void => {
    const { upstream, place } = through;
    const key = `${place.repo} ${place.sync} ${reference}`;
    if (waiting.has(key) || copying.has(key) || waiting.size >= MAX_QUEUED || signal.aborted) return;
    const beginMs = performance.now() + COPY_AFTER_MS;
    waiting.set(key, async () => {
      await wait(Math.max(0, beginMs - performance.now()), undefined, { signal });
      const way = { deps, downloads, upstream, place, signal };
      if (!(await holds(way, stored.digest))) await copyManifest(way, stored);
      if (isDigest(reference)) return;
      await transactor.write(followTag, mirrorCall(deps), {
        ...place,
        tag: reference,
        digest: stored.digest,
        before: "",
      });
    });
    void copyWaiting();
  };
  const copyWaiting = async (): Promise<void> => {
    if (copies >= COPIES_AT_ONCE) return;
    copies += 1;
    try {
      for (const [key, work] of waiting) {
        if (signal.aborted) return;
        waiting.delete(key);
        copying.add(key);
        await work().catch((error: unknown) => {
          if (!signal.aborted)
            log.warn({ problem: error instanceof Error ? error.message : "" }, "copying what was pulled failed");
        });
        copying.delete(key);
      }
    } finally {
      copies -= 1;
    }
  };

  return {
    manifest: (repo, reference) =>
      ask("manifest", repo, reference, async (through) => {
        if (!isDigest(reference) && !through.settings.follows(reference)) return undefined;
        const keyOf = (name: string): string => `${repo} ${through.place.sync} ${name}`;
        const known = manifests.get(keyOf(reference));
        const stored =
          known !== undefined && clock.nowMs() < known.untilMs
            ? known.stored
            : await through.upstream.manifest(reference, signal);
        if (stored === undefined) return undefined;
        for (const name of new Set([reference, stored.digest]))
          manifests.set(keyOf(name), { stored, untilMs: clock.nowMs() + MANIFEST_MS });
        copySoon(through, reference, stored);
        return stored;
      }),
    blobSize: (repo, digest) => ask("blob", repo, digest, ({ upstream }) => upstream.blobSize(digest, signal)),
    async blob(repo, digest, begin) {
      const within = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_BLOB_MS)]);
      const found = await ask(
        "blob",
        repo,
        digest,
        async ({ upstream, place }) =>
          (await downloads.fetch({ place, upstream, digest, signal: within, begin })) || undefined,
      );
      return found ?? false;
    },
  };
}
