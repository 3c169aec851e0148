import { setTimeout as wait } from "node:timers/promises";
import { pathOf } from "@moorage/kernel/core/image-path";
import { systemCall } from "@moorage/kernel/core/system-call";
import { type Database, select } from "@moorage/kernel/store";
import { expireRepoTags, expireTags } from "../../registry/index.ts";
import {
  BLOB_BATCH,
  MANIFEST_BATCH,
  removeUnlinkedBlobs,
  removeUnneededBlobs,
  removeUnneededManifests,
} from "./commands.ts";
import { removeFreed, sumOf, unlessContended } from "./removal.ts";
import { type CollectedRepo, collectedRepos } from "./repos.ts";
import { countExpiring, countRemovable } from "./dry-run.ts";
import { linksAfter, manifestsAfter, unneededManifests } from "./reachability.ts";
import type { CollectDeps, Collected, Collection, CollectOptions } from "./collection.ts";

const NOTHING: Collected = { tags: 0, manifests: 0, blobs: 0, bytes: 0 };
const MANIFEST_PAGE = 200;
const MAX_PAUSE_MS = 50;

/**
 * One collection over all repos: removes the tags that the retention rules of their repo expire, then the manifests
 * that nothing needs, then the blobs that no manifest needs, and the content of deleted repos. Several collections may
 * run concurrently, in any number of processes, beside pushes: candidates are read outside of transactions, and checked
 * again in the short transactions that remove them. Every loop passes over the content once and in one order, so that
 * it ends whatever is pushed meanwhile. Rejects with the reason of `signal` when that is aborted; what was removed
 * until then stays removed.
 */
export async function collectGarbage(deps: CollectDeps, options: CollectOptions): Promise<Collected> {
  const collection = begin(deps, options);
  const total = { ...NOTHING };
  for await (const repo of collectedRepos(collection.read, options, options.repo)) {
    const collected = await collectRepo(collection, repo);
    if (Object.values(collected).every((count) => count === 0)) continue;
    add(total, collected);
    options.onRepo?.(await collection.read((tx) => pathOf(tx, repo.uid)), collected);
  }
  if (options.repo === undefined) add(total, await collectUnlinked(collection));
  return total;
}

function begin(deps: CollectDeps, options: CollectOptions): Collection {
  const data = { ...systemCall(options.nowMs), agreedMs: options.agreedMs ?? options.nowMs };
  return {
    ...deps,
    ...options,
    data,
    async read(work) {
      options.signal.throwIfAborted();
      const startedMs = performance.now();
      const found = await deps.transactor.read(data, (call) => work(call.tx));
      await wait(Math.min(performance.now() - startedMs, MAX_PAUSE_MS));
      options.signal.throwIfAborted();
      return found;
    },
  };
}

async function collectRepo(collection: Collection, repo: CollectedRepo): Promise<Collected> {
  const tags = repo.policy === null ? 0 : await (collection.dryRun ? countExpiring : expireTagsOf)(collection, repo);
  if (collection.dryRun) return { tags, ...(await countRemovable(collection, repo)) };
  const manifests = await collectManifests(collection, repo);
  return { tags, manifests, ...(await collectBlobs(collection, repo)) };
}

async function expireTagsOf({ transactor, data, signal }: Collection, { uid }: CollectedRepo): Promise<number> {
  return await expireRepoTags(
    {
      read: (work) => transactor.read(data, work),
      async expire(input) {
        signal.throwIfAborted();
        return await transactor.write(expireTags, data, input);
      },
    },
    uid,
  );
}

async function collectManifests(
  { transactor, data, signal, read }: Collection,
  { rules }: CollectedRepo,
): Promise<number> {
  let manifests = 0;
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    const { unneeded, last } = await read(async (tx) => {
      const page = await manifestsAfter(tx, rules, from, MANIFEST_PAGE);
      const unheld = page.filter(({ held }) => !held).map(({ digest }) => digest);
      const removable = new Set((await unneededManifests(tx, rules, unheld)).flat());
      return {
        unneeded: unheld.filter((digest) => removable.has(digest)),
        last: page.length < MANIFEST_PAGE ? undefined : page.at(-1)?.digest,
      };
    });
    for (let at = 0; at < unneeded.length; at += MANIFEST_BATCH) {
      for (let more = true; more;) {
        signal.throwIfAborted();
        const digests = unneeded.slice(at, at + MANIFEST_BATCH);
        const done = await unlessContended(transactor.write(removeUnneededManifests, data, { rules, digests }), {
          manifests: 0,
          more: false,
        });
        manifests += done.manifests;
        more = done.more;
      }
    }
    after = last;
  }
  return manifests;
}

async function collectBlobs(
  collection: Collection,
  { rules }: CollectedRepo,
): Promise<Pick<Collected, "blobs" | "bytes">> {
  const { transactor, data, read } = collection;
  const collected = { blobs: 0, bytes: 0 };
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    const page = await read((tx) => linksAfter(tx, rules, from, BLOB_BATCH));
    const digests = page.filter(({ held }) => !held).map(({ digest }) => digest);
    if (digests.length > 0) {
      const { blobs, freed } = await unlessContended(transactor.write(removeUnneededBlobs, data, { rules, digests }), {
        blobs: 0,
        freed: [],
      });
      collected.blobs += blobs;
      collected.bytes += await removeFreed(collection.blobs, freed);
    }
    after = page.length < BLOB_BATCH ? undefined : page.at(-1)?.digest;
  }
  return collected;
}

async function collectUnlinked(collection: Collection): Promise<Collected> {
  const { transactor, data, read, dryRun } = collection;
  const collected = { ...NOTHING };
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    const page = await read((tx) => blobsAfter(tx, from));
    const unlinked = page.filter(({ linked }) => !linked);
    if (dryRun) {
      collected.blobs += unlinked.length;
      collected.bytes += sumOf(unlinked);
    } else if (unlinked.length > 0) {
      const digests = unlinked.map(({ digest }) => digest);
      const { freed } = await unlessContended(transactor.write(removeUnlinkedBlobs, data, { digests }), {
        freed: [],
      });
      collected.blobs += freed.length;
      collected.bytes += await removeFreed(collection.blobs, freed);
    }
    after = page.length < BLOB_BATCH ? undefined : page.at(-1)?.digest;
  }
  return collected;
}

async function blobsAfter(tx: Database, after: string): Promise<{ digest: string; size: number; linked: boolean }[]> {
  const rows = await select<{ digest: string; size: number; linked: unknown }>(
    tx,
    `select b.digest, b.size, (select 1 from repo_blobs as l where l.digest = b.digest limit 1) is not null
      or (select 1 from artifact_files as f where f.digest = b.digest limit 1) is not null as linked
    from blobs as b where b.digest > ? order by b.digest limit ?`,
    [after, BLOB_BATCH],
  );
  // SQLite answers 1, PostgreSQL true.
  return rows.map(({ digest, size, linked }) => ({ digest, size, linked: Boolean(linked) }));
}

function add(total: Collected, more: Collected): void {
  for (const key of ["tags", "manifests", "blobs", "bytes"] as const) total[key] += more[key];
}
