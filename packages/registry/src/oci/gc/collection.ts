import type { BlobStore } from "@moorage/kernel/blobs";
import type { CallData } from "@moorage/kernel/core/call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Database } from "@moorage/kernel/store";
import type { CollectTimes } from "./repos.ts";

/** What a collection removed; in a dry run, what it would remove. */
export interface Collected {
  /** Tags that the retention rules of their repo delete. */
  tags: number;
  manifests: number;
  /** Links of blobs to repos: a blob counts once for each repo that no longer holds it. */
  blobs: number;
  /** Bytes of content that no repo holds any longer, each content counted once. */
  bytes: number;
}

export interface CollectDeps {
  transactor: Transactor;
  blobs: Pick<BlobStore, "remove">;
}

export interface CollectOptions extends CollectTimes {
  /** The uid of the only repo to collect. Defaults to all repos, and blobs that no repo links to. */
  repo?: string | undefined;
  /** Whether to count only and change nothing. */
  dryRun: boolean;
  /** The agreed time at which it began, in milliseconds. Defaults to `nowMs`. */
  agreedMs?: number;
  /** Ends the collection between two steps; `collectGarbage` rejects with its reason then. */
  signal: AbortSignal;
  /** Called for each repo in which something was removed, with the image's path. */
  onRepo?(name: string, collected: Collected): void;
}

/** The state that all steps of one collection share. All reads and writes use the time at which it began. */
export interface Collection extends CollectDeps, CollectOptions {
  data: CallData;
  /** Reads, and then waits for as long as the read took, so that other work proceeds. */
  read<T>(work: (tx: Database) => Promise<T>): Promise<T>;
}
