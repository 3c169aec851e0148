import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";
import { createLru } from "../base/lru.ts";
import type { Tables } from "./tables.ts";

// A connection to SQLite tells at once whether any other one, of this process or another, has committed anything since it was last asked
// (https://www.sqlite.org/pragma.html#pragma_data_version). What was read before is exactly as true as it was while it says no.
// PostgreSQL has nothing like it.

const versions = new WeakMap<Kysely<Tables>, () => number>();

/** Lets snapshot caches be made over a connection. It must never write: its own commits would go unseen. */
export function watchCommits(db: Kysely<Tables>, raw: DatabaseSync): void {
  const statement = raw.prepare("pragma data_version");
  versions.set(db, () => Number(statement.get()?.["data_version"]));
}

/** A state of the database. */
export type Snapshot = number;

/** What was read from the database, kept for as long as nobody commits anything. */
export interface SnapshotCache<V> {
  /** The state there is now, to be asked for before anything is read. Undefined: the engine does not tell, and nothing is kept. */
  snapshot(): Snapshot | undefined;
  /** The value of the key, when the database has not changed at all since the snapshot that it was kept for. */
  get(key: string): V | undefined;
  /** Keeps what was read since the snapshot; nothing, when there was a commit in the meantime: part of it may be from before that. */
  keep(snapshot: Snapshot | undefined, key: string, value: V): void;
  /** The value of the key, or what `load` gives, which is kept unless it is undefined. */
  remember(key: string, load: () => Promise<V | undefined>): Promise<V | undefined>;
}

/** A cache of at most `maxWeight`. An entry weighs 1, or what `weightOf` says. Over PostgreSQL, and connections nobody watches, nothing is kept. */
export function createSnapshotCache<V>(db: Kysely<Tables>, maxWeight: number, weightOf?: (value: V) => number): SnapshotCache<V> {
  const kept = createLru<string, V>(maxWeight, weightOf);
  let keptFor: Snapshot | undefined;
  const snapshot = versions.get(db) ?? (() => undefined);
  const get = (key: string, now: Snapshot | undefined): V | undefined => {
    if (now !== keptFor) {
      kept.clear();
      keptFor = now;
    }
    return kept.get(key);
  };
  const keep = (since: Snapshot | undefined, key: string, value: V): void => {
    if (since !== undefined && since === keptFor && since === snapshot()) kept.set(key, value);
  };
  return {
    snapshot, keep,
    get: (key) => get(key, snapshot()),
    async remember(key, load) {
      const now = snapshot();
      const known = get(key, now);
      if (known !== undefined) return known;
      const value = await load();
      if (value !== undefined) keep(now, key, value);
      return value;
    },
  };
}
