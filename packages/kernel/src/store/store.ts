import type { Kysely } from "kysely";
import type { TransientError } from "./failures.ts";
import type { Tables } from "./tables.ts";

/** A connection or a transaction. A service gets it only as `call.tx`. */
export type Database = Kysely<Tables>;

/** Where the database is. The fields are those of the settings. */
export interface StoreSettings {
  dataDir: string;
  /** Empty for SQLite in the data folder. */
  databaseUrl: string;
  databasePoolSize: number;
  databaseTimeoutMs: number;
  databaseTls: "disable" | "require" | "verify-full";
  databaseTlsCa: string;
  /**
   * How long PostgreSQL waits for the next statement of a transaction before it ends the session: one whose process is
   * frozen would hold up others. Defaults to five seconds.
   */
  databaseIdleMs?: number;
  /** Called when an idle connection ends. */
  log?(error: Error, message: string): void;
  /** Called when SQLite finds its file damaged. */
  onDamage?(error: Error): void;
  /** Called with faults of the storage that reads outside of transactions met. */
  onFault?(error: unknown): void;
  /** Called at every retry. */
  onRetry?(kind: TransientError["kind"]): void;
}

/**
 * How PostgreSQL does a transaction. On SQLite all are serializable, and those done here durable; its writer thread
 * defers commits as well.
 */
export interface TransactOptions {
  /**
   * Read committed: each statement sees what is committed when it begins, and waits for other transactions instead of
   * colliding with them; only for work that was reviewed for it. Defaults to serializable.
   */
  isolation?: "serializable" | "read committed";
  /**
   * Deferred: the commit does not wait for the disk, and a crash of the database may take it back, with the deferred
   * ones after it. Defaults to durable.
   */
  durability?: "durable" | "deferred";
  /** Whether the transaction is rolled back at its end, whatever the work comes to. Defaults to false. */
  isDryRun?: boolean;
}

/** A database of either engine. */
export interface Store {
  engine: "sqlite" | "postgres";
  /** For reading only: statements see what is committed. */
  reader: Database;
  /**
   * Runs the work in one transaction, whole or not at all, serializable. After a collision the work is run again, so it
   * must have no other effects. On SQLite it is meant for the time before and after serving: writes of a running server
   * go through its writer thread.
   */
  transact<T>(work: (tx: Database) => Promise<T>, options?: TransactOptions): Promise<T>;
  /** Connections in all, idle ones, and callers that wait for one. Absent without a pool. */
  use?(): { total: number; idle: number; waiting: number };
  /** The schema version of the database; 0 for an empty database. */
  version(): Promise<number>;
  /**
   * Migrates the schema to the newest version; safe when several processes start concurrently. Throws a StoreError for
   * a newer version.
   */
  migrate(): Promise<void>;
  close(): Promise<void>;
}

/** Why a database cannot be opened, in one line for the operator. */
export class StoreError extends Error {}
