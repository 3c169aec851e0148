import type { ChangeKeys } from "./change-keys.ts";
import type { Database } from "./store.ts";
import type { Tables } from "./tables.ts";

/** A value that SQLite can bind. */
export type Bindable = string | number | bigint | Uint8Array | null;

/**
 * The embedded engine behind a Database, for hot paths on which the query builder's executor costs more than the query.
 * It answers synchronously.
 */
export interface Embedded {
  /** The rows of a statement as objects. Question marks stand for the parameters. */
  all(text: string, parameters: readonly Bindable[]): unknown[];
  /** Like `all`, with each row as an array in the order of the columns. */
  arrays(text: string, parameters: readonly Bindable[]): unknown[][];
  /**
   * A number that changes whenever another connection has committed anything but rows of uncached tables
   * (uncached-tables.ts); absent on a connection that writes. Every writing connection of Moorage counts such commits
   * in the database itself, so that this includes other processes; SQLite reports when the count may have changed.
   * Source: https://www.sqlite.org/pragma.html#pragma_data_version
   */
  version?(): number;
  /**
   * Like `version`, without opening a snapshot for further statements: half the cost, for a caller that reads nothing
   * else.
   */
  versionAlone?(): number;
  /**
   * A number that changes whenever another connection has committed anything at all, and that no connection of this
   * process gives twice for different states; present where `version` is. Costs as much as `versionAlone`.
   */
  commits?(): number;
  /**
   * Whether nothing has changed since that version of what a value with these keys was made from; present where
   * `version` is. See store/key-cache.ts.
   */
  holds?(since: number, keys: ChangeKeys): boolean;
  /**
   * On a connection that writes: says what has been changed in declarable tables since the last call. Undefined for
   * everything, which it is as well when nobody says it.
   */
  declare?(keys: ChangeKeys | undefined): void;
  /**
   * On a connection that writes, in a transaction: a number that has changed if rows of one of the tables may have, by
   * this connection or another. Undefined outside of transactions.
   */
  versionOf?(tables: readonly (keyof Tables)[]): number | undefined;
  /** On a connection that writes: how many statements it ran that may have changed anything. */
  written?(): number;
}

const engines = new WeakMap<Database, Embedded>();

/** Registers the engine behind a Database; called once, when it is opened. */
export function setEmbedded(db: Database, engine: Embedded): void {
  engines.set(db, engine);
}

/** The engine of a Database. Undefined on PostgreSQL, and for a transaction of the query builder. */
export function embeddedOf(db: Database): Embedded | undefined {
  return engines.get(db);
}
