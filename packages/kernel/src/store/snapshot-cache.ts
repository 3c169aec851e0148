import { after, type Awaitable } from "../lib/awaitable.ts";
import { createLru } from "../lib/lru.ts";
import { changeLogOf } from "./change-log.ts";
import { embeddedOf } from "./embedded-engine.ts";
import { createKeyCache, fillIn, type LoadValues, type Snapshot } from "./key-cache.ts";
import type { Database } from "./store.ts";
import type { Tables } from "./tables.ts";

// A connection to SQLite knows without a read whether any other connection, of this process or another, has committed a
// relevant change since it last checked (see `Embedded.version`). Until then, everything read from tables other than
// the uncached ones is still current. PostgreSQL has no such number: see change-log.ts.

/** What remembers values. */
interface Memory<V> {
  /** The value of the key, or the result of `load`, which is cached unless it is undefined. */
  remember<L extends V | undefined>(key: string, load: () => Awaitable<L>): Awaitable<V | L>;
  /** The values of the keys: those that are cached, and for the other keys what `load` returns, which is cached. */
  rememberAll(keys: readonly string[], load: LoadValues<V>): Awaitable<Map<string, V>>;
}

/**
 * Caches values read from the database until a relevant commit. Values read from uncached tables (uncached-tables.ts)
 * must not be cached.
 */
interface SnapshotCache<V> extends Memory<V> {
  /**
   * The current state; call it before reading anything. Undefined when the engine does not know it; then nothing is
   * cached.
   */
  snapshot(): Snapshot | undefined;
  /** The value of the key, if the database has not changed since the snapshot it was cached for. */
  get(key: string): V | undefined;
  /**
   * Caches a value that was read since the snapshot. Does nothing when there was a commit in the meantime: part of the
   * value may be older.
   */
  keep(snapshot: Snapshot | undefined, key: string, value: V): void;
}

/**
 * A cache of at most `maxWeight`. An entry weighs 1, or what `weightOf` returns. On PostgreSQL nothing is cached. On a
 * connection that writes, nothing is unless all that is read for a value is in `tables`: then it is kept until one of
 * these changes.
 */
export function createSnapshotCache<V>(
  db: Database,
  maxWeight: number,
  weightOf?: (value: V) => number,
  tables?: readonly (keyof Tables)[],
): SnapshotCache<V> {
  const cached = createLru<string, V>(maxWeight, weightOf);
  let keptFor: Snapshot | undefined;
  const { version, versionAlone, versionOf } = embeddedOf(db) ?? {};
  const snapshot = version ?? (() => tables && versionOf?.(tables));
  const alone = versionAlone ?? snapshot;
  /** Whether the cached values are of this state. If not, the cache is cleared. */
  const isOf = (now: Snapshot | undefined): boolean => {
    if (now === keptFor) return true;
    cached.clear();
    keptFor = now;
    return false;
  };
  const keep = (since: Snapshot | undefined, key: string, value: V): void => {
    if (since === undefined || since !== snapshot()) return;
    isOf(since);
    cached.set(key, value);
  };
  const loaded = <L extends V | undefined>(
    since: Snapshot | undefined,
    key: string,
    load: () => Awaitable<L>,
  ): Awaitable<L> =>
    after(load(), (value) => {
      if (value !== undefined) keep(since, key, value);
      return value;
    });
  return {
    snapshot,
    keep,
    get(key) {
      const known = cached.get(key);
      // The check of the database costs more than the look-up, so it is only made for a cached value.
      return known !== undefined && isOf(alone()) ? known : undefined;
    },
    remember(key, load) {
      const now = snapshot();
      return (isOf(now) ? cached.get(key) : undefined) ?? loaded(now, key, load);
    },
    rememberAll(keys, load) {
      const now = snapshot();
      isOf(now);
      return fillIn(
        keys,
        (key) => cached.get(key),
        load,
        (values) => {
          if (now === undefined || now !== snapshot()) return;
          isOf(now);
          for (const [key, value] of values) cached.set(key, value);
        },
      );
    },
  };
}

// Of a transaction on PostgreSQL.
const NOTHING: Memory<never> = {
  remember: (_, load) => load(),
  rememberAll: (keys, load) => after(load(keys), (values) => new Map(values)),
};

/**
 * A cache of that many entries for each database. `tables`: as of createSnapshotCache. On PostgreSQL values outlive
 * commits that declare what they change: nothing of a value may be of a declarable table (uncached-tables.ts).
 */
export function snapshotCaches<V>(maxEntries: number, tables?: readonly (keyof Tables)[]): (db: Database) => Memory<V> {
  const caches = new WeakMap<Database, Memory<V>>();
  return (db) => {
    const known = caches.get(db);
    if (known !== undefined) return known;
    const isOnPostgres = embeddedOf(db) === undefined;
    if (isOnPostgres && changeLogOf(db) === undefined) return NOTHING;
    const made: Memory<V> = isOnPostgres
      ? createKeyCache<V>(db, maxEntries)
      : createSnapshotCache<V>(db, maxEntries, undefined, tables);
    caches.set(db, made);
    return made;
  };
}
