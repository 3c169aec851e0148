import { after } from "../lib/awaitable.ts";
import { createLru } from "../lib/lru.ts";
import type { ChangeKeys } from "./change-keys.ts";
import { embeddedOf } from "./embedded-engine.ts";
import type { Snapshot, SnapshotCache } from "./snapshot-cache.ts";
import type { Database } from "./store.ts";

/**
 * Caches values read from the database until a commit changes what they were made from. Each is kept with the keys of
 * what it depends on in declarable tables (uncached-tables.ts); on all other tables it may depend without one. A commit
 * whose commands declare what they change ends the values of these keys, any other commit ends all. As with
 * SnapshotCache, values read from uncached tables must not be cached.
 */
export interface KeyCache<V> extends Omit<SnapshotCache<V>, "keep"> {
  /**
   * Caches a value that was read since the snapshot, unless what it depends on has changed meanwhile. `keys`: defaults
   * to none.
   */
  keep(snapshot: Snapshot | undefined, key: string, value: V, keys?: ChangeKeys): void;
}

interface Entry<V> {
  value: V;
  since: Snapshot;
  keys: ChangeKeys;
}

const NO_KEYS: ChangeKeys = [];

/** A cache of at most `maxWeight`. An entry weighs 1, or what `weightOf` returns. On PostgreSQL nothing is cached. */
export function createKeyCache<V>(
  db: Database,
  maxWeight: number,
  weightOf: (value: V) => number = () => 1,
): KeyCache<V> {
  const cached = createLru<string, Entry<V>>(maxWeight, ({ value }) => weightOf(value));
  const { version, holds } = embeddedOf(db) ?? {};
  const snapshot = (): Snapshot | undefined => version?.();
  const get = (key: string): V | undefined => {
    const known = cached.get(key);
    if (known === undefined || holds === undefined) return undefined;
    if (holds(known.since, known.keys)) return known.value;
    cached.delete(key);
    return undefined;
  };
  const keep: KeyCache<V>["keep"] = (since, key, value, keys = NO_KEYS) => {
    if (since !== undefined && holds?.(since, keys) === true) cached.set(key, { value, since, keys });
  };
  return {
    snapshot,
    get,
    keep,
    remember(key, load) {
      const since = snapshot();
      return (
        get(key) ??
        after(load(), (value) => {
          if (value !== undefined) keep(since, key, value);
          return value;
        })
      );
    },
  };
}
