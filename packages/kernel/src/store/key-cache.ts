import { after, type Awaitable } from "../lib/awaitable.ts";
import { createLru } from "../lib/lru.ts";
import type { ChangeKeys } from "./change-keys.ts";
import { changeLogOf } from "./change-log.ts";
import { embeddedOf } from "./embedded-engine.ts";
import type { Database } from "./store.ts";

/** Identifies a state of the database. */
export type Snapshot = number;

/**
 * Caches values read from the database until a commit changes what they were made from. Each is kept with the keys of
 * what it depends on in declarable tables (uncached-tables.ts); on all other tables it may depend without one. A commit
 * whose commands declare what they change ends the values of these keys, any other commit ends all. Values read from
 * uncached tables must not be cached. On PostgreSQL the database is asked for the changes (change-log.ts), one question
 * for all who wait.
 */
export interface KeyCache<V> {
  /**
   * The current state; call it before reading anything. Undefined when it is not known; then nothing is cached.
   */
  snapshot(): Awaitable<Snapshot | undefined>;
  /** The value of the key, if nothing that it depends on has changed since its snapshot. */
  get(key: string): Awaitable<V | undefined>;
  /**
   * Caches a value that was read since the snapshot, unless what it depends on has changed meanwhile. `keys`: defaults
   * to none.
   */
  keep(snapshot: Snapshot | undefined, key: string, value: V, keys?: ChangeKeys): void;
  /** The value of the key, or the result of `load`, which is cached unless it is undefined. */
  remember<L extends V | undefined>(key: string, load: () => Awaitable<L>): Awaitable<V | L>;
  /** The values of the keys: those that are cached, and for the other keys what `load` returns, which is cached. */
  rememberAll(keys: readonly string[], load: LoadValues<V>): Awaitable<Map<string, V>>;
}

/** Reads the values of these keys; a key without a value is left out. */
export type LoadValues<V> = (missing: readonly string[]) => Awaitable<ReadonlyMap<string, V>>;

/** The values that `known` has, and what `load` returns for the other keys, which `keep` is called with. */
export function fillIn<V>(
  keys: readonly string[],
  known: (key: string) => V | undefined,
  load: LoadValues<V>,
  keep: (loaded: ReadonlyMap<string, V>) => void,
): Awaitable<Map<string, V>> {
  const found = new Map<string, V>();
  const missing: string[] = [];
  for (const key of keys) {
    const value = known(key);
    if (value === undefined) missing.push(key);
    else found.set(key, value);
  }
  if (missing.length === 0) return found;
  return after(load(missing), (loaded) => {
    keep(loaded);
    for (const [key, value] of loaded) found.set(key, value);
    return found;
  });
}

export interface KeyCacheOptions<V> {
  /** The weight of an entry. Defaults to 1. */
  weightOf?(value: V): number;
  /** Whether a value ends with any commit, whatever it declares. Defaults to false. */
  endsWithAny?: boolean;
}

interface Entry<V> {
  value: V;
  since: Snapshot;
  keys: ChangeKeys | undefined;
}

const NO_KEYS: ChangeKeys = [];

/** How the engine knows what has changed. */
interface States {
  now(): Awaitable<Snapshot | undefined>;
  /** Calls `use` with whether nothing has changed since of what a value with these keys was made from. */
  check<R>(since: Snapshot, keys: ChangeKeys | undefined, use: (holds: boolean) => R): Awaitable<R>;
  /** Whether it is already known that it has. */
  hasChanged(since: Snapshot, keys: ChangeKeys | undefined): boolean;
}

/** Undefined for a connection that writes. */
function statesOf(db: Database): States | undefined {
  const log = changeLogOf(db);
  if (log !== undefined)
    return {
      now: () => log.look(),
      check: (since, keys, use) =>
        log.holds(since, keys)
          ? after(log.look(), (version) => use(version !== undefined && log.holds(since, keys)))
          : use(false),
      hasChanged: (since, keys) => !log.holds(since, keys),
    };
  const { version, versionAlone, holds } = embeddedOf(db) ?? {};
  if (version === undefined || holds === undefined) return undefined;
  const isSame = (since: Snapshot, keys: ChangeKeys | undefined): boolean =>
    keys === undefined ? versionAlone?.() === since : holds(since, keys);
  return {
    now: version,
    check: (since, keys, use) => use(isSame(since, keys)),
    hasChanged: (since, keys) => !isSame(since, keys),
  };
}

/** A cache of at most `maxWeight`. Of a database that writes nothing is cached. */
export function createKeyCache<V>(
  db: Database,
  maxWeight: number,
  { weightOf = () => 1, endsWithAny = false }: KeyCacheOptions<V> = {},
): KeyCache<V> {
  const cached = createLru<string, Entry<V>>(maxWeight, ({ value }) => weightOf(value));
  const states = statesOf(db);
  const snapshot = (): Awaitable<Snapshot | undefined> => states?.now();
  const get = (key: string): Awaitable<V | undefined> => {
    const known = cached.get(key);
    if (known === undefined || states === undefined) return undefined;
    return states.check(known.since, known.keys, (holds) => {
      if (holds) return known.value;
      if (cached.get(key) === known) cached.delete(key);
      return undefined;
    });
  };
  const keep: KeyCache<V>["keep"] = (since, key, value, keys = NO_KEYS) => {
    if (since === undefined || states === undefined) return;
    const entry = { value, since, keys: endsWithAny ? undefined : keys };
    if (!states.hasChanged(since, entry.keys)) cached.set(key, entry);
  };
  return {
    snapshot,
    get,
    keep,
    remember: <L extends V | undefined>(key: string, load: () => Awaitable<L>) =>
      after(snapshot(), (since) =>
        after(
          get(key),
          (known): Awaitable<V | L> =>
            known ??
            after(load(), (value) => {
              if (value !== undefined) keep(since, key, value);
              return value;
            }),
        ),
      ),
    rememberAll: (keys, load) =>
      after(snapshot(), (since) => {
        const known = (key: string): V | undefined => {
          const entry = cached.get(key);
          return entry && states?.hasChanged(entry.since, entry.keys) === false ? entry.value : undefined;
        };
        return fillIn(keys, known, load, (loaded) => {
          for (const [key, value] of loaded) keep(since, key, value);
        });
      }),
  };
}
