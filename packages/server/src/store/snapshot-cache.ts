import { createLru } from "../lib/lru.ts";
import { embeddedOf } from "./embedded.ts";
import type { Database } from "./store.ts";

// A connection to SQLite knows without reading whether any other one, of this process or another, has committed
// anything that counts since it was last asked (see `Embedded.version`). What was read before, of any but quiet tables,
// is exactly as true as it was while it says no. PostgreSQL has nothing like it.

/** A state of the database. */
export type Snapshot = number;

/**
 * What was read from the database, kept for as long as nobody commits anything that counts. What is read from quiet
 * tables (uncached-tables.ts) must not be kept.
 */
export interface SnapshotCache<V> {
  /**
   * The state there is now, to be asked for before anything is read. Undefined: the engine does not know, and nothing
   * is cached.
   */
  snapshot(): Snapshot | undefined;
  /** The value of the key, when the database has not changed at all since the snapshot that it was kept for. */
  get(key: string): V | undefined;
  /**
   * Keeps what was read since the snapshot; nothing, when there was a commit in the meantime: part of it may be from
   * before that.
   */
  keep(snapshot: Snapshot | undefined, key: string, value: V): void;
  /** The value of the key, or what `load` gives, which is kept unless it is undefined. */
  remember<L extends V | undefined>(key: string, load: () => Promise<L>): V | Promise<L>;
}

/**
 * A cache of at most `maxWeight`. An entry weighs 1, or what `weightOf` says. Over PostgreSQL, and connections that
 * write, nothing is kept.
 */
export function createSnapshotCache<V>(
  db: Database,
  maxWeight: number,
  weightOf?: (value: V) => number,
): SnapshotCache<V> {
  const kept = createLru<string, V>(maxWeight, weightOf);
  let keptFor: Snapshot | undefined;
  const { version: snapshot = () => undefined, versionAlone: alone = () => undefined } = embeddedOf(db) ?? {};
  /** Whether what is kept is of this state. If not, nothing is kept any more. */
  const isOf = (now: Snapshot | undefined): boolean => {
    if (now === keptFor) return true;
    kept.clear();
    keptFor = now;
    return false;
  };
  const keep = (since: Snapshot | undefined, key: string, value: V): void => {
    if (since === undefined || since !== snapshot()) return;
    isOf(since);
    kept.set(key, value);
  };
  const loaded = async <L extends V | undefined>(
    since: Snapshot | undefined,
    key: string,
    load: () => Promise<L>,
  ): Promise<L> => {
    const value = await load();
    if (value !== undefined) keep(since, key, value);
    return value;
  };
  return {
    snapshot,
    keep,
    get(key) {
      const known = kept.get(key);
      // To ask the database costs more than to look, so it is asked only about what is there.
      return known !== undefined && isOf(alone()) ? known : undefined;
    },
    remember(key, load) {
      const now = snapshot();
      return (isOf(now) ? kept.get(key) : undefined) ?? loaded(now, key, load);
    },
  };
}

/** A cache of that many entries for each database that is asked. */
export function snapshotCaches<V>(maxEntries: number): (db: Database) => SnapshotCache<V> {
  const caches = new WeakMap<Database, SnapshotCache<V>>();
  return (db) => {
    const known = caches.get(db);
    if (known !== undefined) return known;
    const made = createSnapshotCache<V>(db, maxEntries);
    caches.set(db, made);
    return made;
  };
}
