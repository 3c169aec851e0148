import type { Selectable } from "kysely";

// Columns are text, integer, blob. Times are integer milliseconds since 1970. Booleans are 0 and 1. Lists and objects
// are JSON text.

/**
 * The tables. Those of the store itself stand here; each area adds its own in its `tables.ts`, and is the only one that
 * writes them.
 */
export interface Tables {
  /** Key-value pairs that identify the installation. */
  installation: { key: string; value: string };
  /**
   * Descendants with the name to order by: (kind, ancestor, name, uid); strict ancestors only, except that groups have
   * themselves as well.
   */
  ancestry: { kind: string; ancestor: string; name: string; uid: string };
  /** The number of resources of a kind below an ancestor. */
  counters: { kind: string; ancestor: string; n: number };
  /** What commits have declared to change, by their number; an empty key for nothing. SQLite alone has rows. */
  change_keys: { number: number; key: string };
}

/** The tables whose rows are resources. */
export type ResourceTable = { [T in keyof Tables]: Tables[T] extends { uid: unknown } ? T : never }[keyof Tables];

export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
