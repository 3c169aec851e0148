import { useSyncExternalStore } from "react";

/** Work on many things that goes on while other pages are looked at. */
export interface Bulk {
  /** Such as `Deleting tags of acme/app`. */
  title: string;
  done: number;
  total: number;
  /** What could not be done, and why. */
  failed: readonly { name: string; reason: string }[];
  isRunning: boolean;
}

export interface BulkTask<Item> {
  title: string;
  items: readonly Item[];
  nameOf: (item: Item) => string;
  /** Does it for one; what it throws is noted as the reason. */
  act: (item: Item) => Promise<unknown>;
  /** Called when all were tried, or the work was stopped. */
  onEnd: (bulk: Bulk) => void;
}

let current: Bulk | undefined;
let isStopped = false;
const listeners = new Set<() => void>();

/** Does it for one after the other. Throws when other work is still going on. */
export async function runBulk<Item>({ title, items, nameOf, act, onEnd }: BulkTask<Item>): Promise<void> {
  if (current?.isRunning === true)
    throw new Error(`${current.title} is still running. Wait for it to finish, or stop it.`);
  isStopped = false;
  let bulk: Bulk = { title, done: 0, total: items.length, failed: [], isRunning: true };
  set(bulk);
  for (const item of items) {
    if (isStopped) break;
    try {
      await act(item);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      bulk = { ...bulk, failed: [...bulk.failed, { name: nameOf(item), reason }] };
    }
    bulk = { ...bulk, done: bulk.done + 1 };
    set(bulk);
  }
  bulk = { ...bulk, isRunning: false };
  set(bulk);
  onEnd(bulk);
}

/** Ends the work after what is being done now. */
export function stopBulk(): void {
  isStopped = true;
}

/** Forgets work that has ended. */
export function dismissBulk(): void {
  if (current?.isRunning !== true) set(undefined);
}

/** The work that goes on or has ended; undefined without any. */
export function useBulk(): Bulk | undefined {
  return useSyncExternalStore(subscribe, () => current);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(bulk: Bulk | undefined): void {
  current = bulk;
  for (const listener of listeners) listener();
}
