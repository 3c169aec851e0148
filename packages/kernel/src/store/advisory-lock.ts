import { embeddedOf } from "./embedded-engine.ts";
import { statement } from "./statement.ts";
import type { Database } from "./store.ts";

const lock = statement("select pg_advisory_xact_lock(?)");

/**
 * PostgreSQL's advisory lock for each kind of work that only one transaction at a time may do. Migrations use the
 * number 760213.
 */
const LOCKS = {
  sequence: 760214,
  pulls: 760215,
  catalogs: 760216,
  feeds: 760217,
  scans: 760218,
  signatures: 760219,
} as const;

/**
 * Waits until no other transaction does that kind of work; the lock ends with the transaction. On SQLite, where only
 * one transaction writes at a time, does nothing.
 */
export async function takeAdvisoryLock(tx: Database, work: keyof typeof LOCKS): Promise<void> {
  if (embeddedOf(tx) === undefined) await lock(tx, LOCKS[work]);
}
