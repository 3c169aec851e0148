import type { Kysely } from "kysely";
import type { TransientError } from "./failures.ts";
import type { Tables } from "./tables.ts";

/** A connection or a transaction. A service gets it as `call.tx` and nothing else. */
export type Database = Kysely<Tables>;

/** Where the database is. The fields are those of the settings. */
export interface StoreSettings {
  dataDir: string;
  /** Empty: SQLite in the data folder. */
  databaseUrl: string;
  databasePoolSize: number;
  databaseTimeoutMs: number;
  databaseTls: "disable" | "require" | "verify-full";
  databaseTlsCa: string;
  /** Called with connections that end while nobody uses them. */
  log?(error: Error, message: string): void;
  /** Called at every retry. */
  onRetry?(kind: TransientError["kind"]): void;
}

/** A database, whichever its engine. */
export interface Store {
  engine: "sqlite" | "postgres";
  /** For reading alone: statements see what is committed. */
  reader: Database;
  /**
   * Does the work in one transaction, whole or not at all, as if no other were under way; after a collision it is done
   * again, so it must not reach outside. On SQLite it is meant for the time before and after serving: writes of a
   * running server go through its writing thread. `isolation`: each statement sees what is committed when it begins,
   * and waits for others instead of colliding with them, on engines with concurrent transactions;
   * for work that has been looked at for it.
   */
  transact<T>(
    work: (tx: Database) => Promise<T>,
    options?: { isolation: "serializable" | "read committed" },
  ): Promise<T>;
  /** Connections there are, those not in use, and calls that wait for one. Absent where there is no pool. */
  use?(): { total: number; idle: number; waiting: number };
  /** The version of the schema that is there; 0 for an empty database. */
  version(): Promise<number>;
  /**
   * Brings the schema to the newest version; safe when several processes start concurrently. Throws a StoreError for
   * one of a newer version.
   */
  migrate(): Promise<void>;
  close(): Promise<void>;
}

/** What cannot be opened, said in one line for the operator. */
export class StoreError extends Error {}
