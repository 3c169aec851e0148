import { setTimeout as wait } from "node:timers/promises";
import type { BlobStore } from "../../blobs/index.ts";
import type { CallData } from "../../core/call.ts";
import { Code, MoorageError } from "../../errors.ts";
import { expireRepoTags, expireTags } from "../../registry/index.ts";
import { type Database, select } from "../../store/index.ts";
import type { Transactor } from "../../core/transactor.ts";
import {
  BLOBS_AT_ONCE,
  type Freed,
  MANIFESTS_AT_ONCE,
  removeUnlinkedBlobs,
  removeUnneededBlobs,
  removeUnneededManifests,
} from "./commands.ts";
import { type CollectTimes, type Place, placesOf } from "./repos.ts";
import { wouldExpire, wouldGo } from "./dry-run.ts";
import { linksAfter, manifestsAfter, unneededManifests } from "./reachability.ts";
import { pathOf } from "../names.ts";
import { systemCall } from "../../core/system-call.ts";

/** What went, or would go. */
export interface Collected {
  /** Tags that the retention rules of their repo deleted. */
  tags: number;
  manifests: number;
  /** Blobs that a repo no longer holds, each counted once for every such repo. */
  blobs: number;
  /** What their content took in the blob store, counted once, and only where no repo holds it any longer. */
  bytes: number;
}

export interface CollectDeps {
  transactor: Transactor;
  blobs: Pick<BlobStore, "remove">;
}

export interface CollectOptions extends CollectTimes {
  /** The uid of the only repo to be looked at. Absent: all, and what no repo holds. */
  repo?: string | undefined;
  /** Whether nothing is to be changed, and only counted. */
  dryRun: boolean;
  /** Ends the collection between two steps; it rejects then. */
  signal: AbortSignal;
  /** Told of each repo in which something went, by the image's path. */
  onRepo?(name: string, collected: Collected): void;
}

/** A step of a collection: reads and writes as of its beginning, and waits in between. */
export interface Collection extends CollectDeps, CollectOptions {
  data: CallData;
  /** Reads, and then lets others work for as long as that took. */
  look<T>(work: (tx: Database) => Promise<T>): Promise<T>;
}

export const NOTHING: Collected = { tags: 0, manifests: 0, blobs: 0, bytes: 0 };
const MANIFESTS_A_LOOK = 200;
const REMOVALS_AT_ONCE = 8;
const LONGEST_PAUSE_MS = 50;

/**
 * One run over all repos: removes the tags whose time is over by the policy of their repo, then the manifests that
 * nothing needs, then the blobs that no manifest needs, and what is left of deleted repos. Any number may run at once,
 * on any number of processes, beside pushes: candidates are looked for outside of transactions, and judged in the short
 * ones that remove them. Every loop goes over what is there in one order and once, so that it ends whatever is pushed
 * meanwhile. Rejects with the signal's reason when it is told to end; what went is gone then.
 */
export async function collectGarbage(deps: CollectDeps, options: CollectOptions): Promise<Collected> {
  const collection = begin(deps, options);
  const total = { ...NOTHING };
  for await (const place of placesOf(collection.look, options, options.repo)) {
    const collected = await collectRepo(collection, place);
    if (Object.values(collected).every((count) => count === 0)) continue;
    add(total, collected);
    options.onRepo?.(await collection.look((tx) => pathOf(tx, place.uid)), collected);
  }
  if (options.repo === undefined) add(total, await collectUnlinked(collection));
  return total;
}

function begin(deps: CollectDeps, options: CollectOptions): Collection {
  const data = systemCall(options.nowMs);
  return {
    ...deps,
    ...options,
    data,
    async look(work) {
      options.signal.throwIfAborted();
      const startedMs = performance.now();
      const found = await deps.transactor.read(data, (call) => work(call.tx));
      await wait(Math.min(performance.now() - startedMs, LONGEST_PAUSE_MS));
      options.signal.throwIfAborted();
      return found;
    },
  };
}

async function collectRepo(collection: Collection, place: Place): Promise<Collected> {
  const tags = place.policy === null ? 0 : await (collection.dryRun ? wouldExpire : expireTagsOf)(collection, place);
  if (collection.dryRun) return { tags, ...(await wouldGo(collection, place)) };
  const manifests = await collectManifests(collection, place);
  return { tags, manifests, ...(await collectBlobs(collection, place)) };
}

async function expireTagsOf({ transactor, data, signal }: Collection, { uid }: Place): Promise<number> {
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

async function collectManifests({ transactor, data, signal, look }: Collection, { rules }: Place): Promise<number> {
  let manifests = 0;
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    const { unneeded, last } = await look(async (tx) => {
      const page = await manifestsAfter(tx, rules, from, MANIFESTS_A_LOOK);
      const unheld = page.filter(({ held }) => !held).map(({ digest }) => digest);
      const going = new Set((await unneededManifests(tx, rules, unheld)).flat());
      return {
        unneeded: unheld.filter((digest) => going.has(digest)),
        last: page.length < MANIFESTS_A_LOOK ? undefined : page.at(-1)?.digest,
      };
    });
    for (let at = 0; at < unneeded.length; at += MANIFESTS_AT_ONCE) {
      for (let more = true; more;) {
        signal.throwIfAborted();
        const digests = unneeded.slice(at, at + MANIFESTS_AT_ONCE);
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

async function collectBlobs(collection: Collection, { rules }: Place): Promise<Pick<Collected, "blobs" | "bytes">> {
  const { transactor, data, look } = collection;
  const collected = { blobs: 0, bytes: 0 };
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    const page = await look((tx) => linksAfter(tx, rules, from, BLOBS_AT_ONCE));
    const digests = page.filter(({ held }) => !held).map(({ digest }) => digest);
    if (digests.length > 0) {
      const { blobs, freed } = await unlessContended(transactor.write(removeUnneededBlobs, data, { rules, digests }), {
        blobs: 0,
        freed: [],
      });
      collected.blobs += blobs;
      collected.bytes += await removeContent(collection, freed);
    }
    after = page.length < BLOBS_AT_ONCE ? undefined : page.at(-1)?.digest;
  }
  return collected;
}

async function collectUnlinked(collection: Collection): Promise<Collected> {
  const { transactor, data, look, dryRun } = collection;
  const collected = { ...NOTHING };
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    const page = await look((tx) => blobsAfter(tx, from));
    const unlinked = page.filter(({ linked }) => !linked);
    if (dryRun) {
      collected.blobs += unlinked.length;
      collected.bytes += sum(unlinked);
    } else if (unlinked.length > 0) {
      const digests = unlinked.map(({ digest }) => digest);
      const { freed } = await unlessContended(transactor.write(removeUnlinkedBlobs, data, { digests }), {
        freed: [],
      });
      collected.blobs += freed.length;
      collected.bytes += await removeContent(collection, freed);
    }
    after = page.length < BLOBS_AT_ONCE ? undefined : page.at(-1)?.digest;
  }
  return collected;
}

/** Where others change the same all the time, the next run will come through: this one goes on elsewhere. */
async function unlessContended<T>(work: Promise<T>, nothing: T): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof MoorageError && error.code === Code.Aborted) return nothing;
    throw error;
  }
}

async function blobsAfter(tx: Database, after: string): Promise<{ digest: string; size: number; linked: boolean }[]> {
  const rows = await select<{ digest: string; size: number; linked: unknown }>(
    tx,
    `select b.digest, b.size, (select 1 from repo_blobs as l where l.digest = b.digest limit 1) is not null as linked
    from blobs as b where b.digest > ? order by b.digest limit ?`,
    [after, BLOBS_AT_ONCE],
  );
  // One engine says 1, the other true.
  return rows.map(({ digest, size, linked }) => ({ digest, size, linked: Boolean(linked) }));
}

/**
 * Removes what no record names any longer. A crash on the way leaves content that cleanUploads finds once it is older
 * than an upload may be.
 */
async function removeContent({ blobs }: Collection, freed: readonly Freed[]): Promise<number> {
  for (let at = 0; at < freed.length; at += REMOVALS_AT_ONCE) {
    await Promise.all(
      freed.slice(at, at + REMOVALS_AT_ONCE).map(({ digest, generation }) => blobs.remove(digest, generation)),
    );
  }
  return sum(freed);
}

function sum(rows: readonly { size: number }[]): number {
  return rows.reduce((bytes, { size }) => bytes + size, 0);
}

function add(total: Collected, more: Collected): void {
  for (const key of ["tags", "manifests", "blobs", "bytes"] as const) total[key] += more[key];
}
