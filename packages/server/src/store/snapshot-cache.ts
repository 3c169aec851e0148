import { SqliteAdapter, type Kysely } from "kysely";
import { createLru } from "../base/lru.ts";
import { statement } from "./statement.ts";
import type { Tables } from "./tables.ts";

// A connection to SQLite tells at once whether any other one, of this process or another, has committed anything since it was last asked
// (https://www.sqlite.org/pragma.html#pragma_data_version). What was read before is exactly as true as it was while it says no.
// PostgreSQL has nothing like it.

const selectDataVersion = statement<{ data_version: number }>("pragma data_version");

/** What was read from the database, kept for as long as nobody commits anything. */
export interface SnapshotCache<V> {
  /** The kept value of the key, when the database has not changed at all since it was loaded; else what `load` gives, which is kept unless it is undefined. */
  remember(key: string, load: () => Promise<V | undefined>): Promise<V | undefined>;
}

/**
 * A cache of at most `maxWeight` over a connection that never writes: its own commits would go unseen. An entry weighs 1, or what `weightOf` says.
 * On PostgreSQL nothing is kept and `load` is always called.
 */
export function createSnapshotCache<V>(db: Kysely<Tables>, maxWeight: number, weightOf?: (value: V) => number): SnapshotCache<V> {
  if (!(db.getExecutor().adapter instanceof SqliteAdapter)) return { remember: (_, load) => load() };
  const kept = createLru<string, V>(maxWeight, weightOf);
  let keptVersion: number | undefined;
  return {
    async remember(key, load) {
      const version = (await selectDataVersion(db))[0]?.data_version;
      if (version !== keptVersion) {
        kept.clear();
        keptVersion = version;
      }
      const known = kept.get(key);
      if (known !== undefined) return known;
      const value = await load();
      // A commit in the meantime: part of what was loaded may be from before it.
      const after = (await selectDataVersion(db))[0]?.data_version;
      if (value !== undefined && after === version && after === keptVersion) kept.set(key, value);
      return value;
    },
  };
}
