import { setTimeout as wait } from "node:timers/promises";
import type { BlobStore } from "@moorage/kernel/blobs";
import { systemCall } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { createTurns } from "@moorage/kernel/lib/turns";
import { type Database, select } from "@moorage/kernel/store";
import { cacheUse, type CacheUse, evictTags, lastUses, policyOf } from "../../registry/index.ts";
import { BLOB_BATCH, type Freed, MANIFEST_BATCH, removeUnneededBlobs, removeUnneededManifests } from "./commands.ts";
import { removeFreed, unlessContended } from "./removal.ts";
import { usesBelow } from "./last-use.ts";
import { linksAfter, manifestsAfter, placeholders, type RepoRules, unneededManifests } from "./reachability.ts";

export interface EvictDeps {
  transactor: Transactor;
  blobs: Pick<BlobStore, "remove">;
  /** When it began: nothing that happens later is judged. In milliseconds since 1970, and of the agreed time. */
  nowMs: number;
  agreedMs: number;
  signal: AbortSignal;
}

/** What was removed of a group that stands for another registry. */
export interface Evicted {
  tags: number;
  manifests: number;
  /** Bytes of content that nothing has any longer. */
  bytes: number;
}

/**
 * What was used within this time stays, in milliseconds: it may be on its way to a client, and pulls are noted late.
 */
export const RECENT_MS = 10_000;
// A copy brings the blobs of an image before the image itself, for so long at the most.
const LONGEST_COPY_MS = 20 * 60_000;
/** The share of all manifests that goes before it is looked again how much there is. */
const STEP_SHARE = 0.05;
/** The most times of use that are kept in memory: those that are the longest ago. */
const MAX_TIMES = 200_000;
const PAGE = 200;
const MAX_PAUSE_MS = 50;

/**
 * Removes what was used the longest ago of a group that stands for another registry, until no more is left than
 * `target`: tags, and images with all that only they need. What a tag has that the repo's policy protects stays, and
 * what was used a moment ago. Several processes may do so at a time, beside pulls: candidates are checked again in the
 * short transactions that remove them. Rejects with the reason of `signal` when that is aborted.
 */
export async function evict(deps: EvictDeps, { group, target }: CacheUse): Promise<Evicted> {
  const { nowMs, signal } = deps;
  const evicted: Evicted = { tags: 0, manifests: 0, bytes: 0 };
  const data = { ...systemCall(nowMs), agreedMs: deps.agreedMs };
  const read = async <T>(work: (tx: Database) => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    const startedMs = performance.now();
    const found = await deps.transactor.read(data, (call) => work(call.tx));
    await wait(Math.min(performance.now() - startedMs, MAX_PAUSE_MS));
    return found;
  };
  const isEnough = async (): Promise<boolean> => {
    const use = await read((tx) => cacheUse(tx, group));
    return use === undefined || use.used <= target;
  };
  const repos: { repo: string; oldestMs: number }[] = [];
  let timesMs: number[] = [];
  const eviction: Eviction = { ...deps, data, read, evicted };
  for await (const used of usesBelow(read, group, nowMs)) {
    // What came for an image that did not fit is needed by nothing.
    await evictBlobs(eviction, { repo: used.repo, graceCutMs: nowMs - LONGEST_COPY_MS, historyCutMs: undefined });
    if (used.timesMs.length === 0) continue;
    repos.push({ repo: used.repo, oldestMs: used.timesMs.reduce((one, other) => Math.min(one, other)) });
    for (const each of used.timesMs) timesMs.push(each);
    if (timesMs.length > 2 * MAX_TIMES) timesMs = timesMs.toSorted((one, other) => one - other).slice(0, MAX_TIMES);
  }
  timesMs.sort((one, other) => one - other);
  const step = Math.max(1, Math.ceil(timesMs.length * STEP_SHARE));
  for (let at = step - 1; !(await isEnough()); at += step) {
    const cutMs = timesMs[Math.min(at, timesMs.length - 1)];
    if (cutMs === undefined || cutMs > nowMs - RECENT_MS) break;
    for (const { repo, oldestMs } of repos) if (oldestMs <= cutMs) await evictRepo(eviction, repo, cutMs);
    if (at >= timesMs.length - 1) break;
  }
  return evicted;
}

interface Eviction extends EvictDeps {
  data: ReturnType<typeof systemCall>;
  read<T>(work: (tx: Database) => Promise<T>): Promise<T>;
  evicted: Evicted;
}

/** Removes what was last used at `cutMs` or before. */
async function evictRepo(eviction: Eviction, repo: string, cutMs: number): Promise<void> {
  await evictTagsOf(eviction, repo, cutMs);
  const rules: RepoRules = {
    repo,
    graceCutMs: cutMs,
    historyCutMs: undefined,
    pulledCutMs: cutMs,
    ignoresHistory: true,
  };
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    const { unneeded, blobs, last } = await eviction.read(async (tx) => {
      const page = await manifestsAfter(tx, rules, from, PAGE);
      const unheld = page.filter(({ held }) => !held).map(({ digest }) => digest);
      const removable = (await unneededManifests(tx, rules, unheld)).flat();
      return {
        unneeded: removable,
        blobs: await blobsOf(tx, repo, removable),
        last: page.length < PAGE ? undefined : page.at(-1)?.digest,
      };
    });
    for (let at = 0; at < unneeded.length; at += MANIFEST_BATCH)
      await evictManifests(eviction, rules, unneeded.slice(at, at + MANIFEST_BATCH));
    for (let at = 0; at < blobs.length; at += BLOB_BATCH)
      await removeBlobs(eviction, rules, blobs.slice(at, at + BLOB_BATCH));
    after = last;
  }
}

async function evictManifests({ transactor, data, signal, evicted }: Eviction, rules: RepoRules, digests: string[]) {
  for (let more = true; more;) {
    signal.throwIfAborted();
    const done = await unlessContended(transactor.write(removeUnneededManifests, data, { rules, digests }), {
      manifests: 0,
      more: false,
    });
    evicted.manifests += done.manifests;
    more = done.more;
  }
}

/** Deletes the tags of a repo that were last used at `cutMs` or before, but for those that its policy protects. */
async function evictTagsOf(
  { transactor, data, read, signal, nowMs, evicted }: Eviction,
  repo: string,
  cutMs: number,
): Promise<void> {
  const turn = createTurns();
  const found = await read((tx) =>
    tx.selectFrom("repos").select("tag_policy").where("uid", "=", repo).executeTakeFirst(),
  );
  const policy = policyOf(found?.tag_policy ?? null);
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    const page = await read(async (tx) => {
      const tags = await tx
        .selectFrom("tags")
        .select(["uid", "name", "digest", "update_time"])
        .where("parent", "=", repo)
        .where("name", ">", from)
        .orderBy("name")
        .limit(PAGE)
        .execute();
      // A tag is as old as what it points to: only that has its pulls exactly.
      const plain = tags.map((tag) => ({ ...tag, update_time: 0, last_pull_time: null }));
      const usedMs = await lastUses(tx, repo, plain, nowMs);
      return tags.map((tag, index) => ({ tag, usedMs: usedMs(plain[index] ?? { ...tag, last_pull_time: null }) }));
    });
    const old: { uid: string; name: string; update_time: number }[] = [];
    for (const { tag, usedMs } of page) {
      await turn();
      if (Math.max(usedMs, tag.update_time) <= cutMs && !policy.isProtected(tag.name)) old.push(tag);
    }
    if (old.length > 0) {
      signal.throwIfAborted();
      const done = await unlessContended(transactor.write(evictTags, data, { repo, tags: old }), { evicted: 0 });
      evicted.tags += done.evicted;
    }
    after = page.length < PAGE ? undefined : page.at(-1)?.tag.name;
  }
}

/** Unlinks the blobs of a repo that no manifest needs, and that came before `graceCutMs`. */
async function evictBlobs(eviction: Eviction, rules: RepoRules): Promise<void> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    const page = await eviction.read((tx) => linksAfter(tx, rules, from, BLOB_BATCH));
    await removeBlobs(
      eviction,
      rules,
      page.filter(({ held }) => !held).map(({ digest }) => digest),
    );
    after = page.length < BLOB_BATCH ? undefined : page.at(-1)?.digest;
  }
}

async function removeBlobs(
  { transactor, data, blobs, evicted }: Eviction,
  rules: RepoRules,
  digests: string[],
): Promise<void> {
  if (digests.length === 0) return;
  const nothing = { freed: [] as Freed[] };
  const { freed } = await unlessContended(transactor.write(removeUnneededBlobs, data, { rules, digests }), nothing);
  evicted.bytes += await removeFreed(blobs, freed);
}

async function blobsOf(tx: Database, repo: string, manifests: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (let at = 0; at < manifests.length; at += PAGE) {
    const some = manifests.slice(at, at + PAGE);
    const text = `select distinct target from manifest_references
      where repo = ? and kind = 'blob' and digest in (${placeholders(some)})`;
    for (const { target } of await select<{ target: string }>(tx, text, [repo, ...some])) found.add(target);
  }
  return [...found];
}
