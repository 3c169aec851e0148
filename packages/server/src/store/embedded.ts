import type { Database } from "./store.ts";

/** A value as SQLite takes it. */
export type Bindable = string | number | bigint | Uint8Array | null;

/**
 * The embedded engine behind a Database, for paths so hot that the query builder's executor costs more than the answer.
 * It answers synchronously.
 */
export interface Embedded {
  /** The rows of a statement as objects. Question marks stand for the parameters. */
  all(text: string, parameters: readonly Bindable[]): unknown[];
  /** The same with each row as an array, in the order of the columns. */
  arrays(text: string, parameters: readonly Bindable[]): unknown[][];
  /**
   * Changes whenever another connection has committed anything but rows of quiet tables (uncached-tables.ts); absent on
   * a connection that writes. Every connection of ours that writes counts such commits in the database itself, so that
   * it holds for those of other processes too; the engine says when the count may have changed. Source:
   * https://www.sqlite.org/pragma.html#pragma_data_version
   */
  version?(): number;
  /** The same, without a snapshot being opened for statements to come: half the price, for who reads nothing else. */
  versionAlone?(): number;
}

const engines = new WeakMap<Database, Embedded>();

/** Makes the engine behind a Database known; done once, where it is opened. */
export function setEmbedded(db: Database, engine: Embedded): void {
  engines.set(db, engine);
}

/** Undefined where there is no embedded engine, and for a transaction of the query builder's. */
export function embeddedOf(db: Database): Embedded | undefined {
  return engines.get(db);
}
