import { embeddedOf } from "./embedded.ts";
import { statement } from "./statement.ts";
import type { Database } from "./store.ts";

const lock = statement("select pg_advisory_xact_lock(?)");

/**
 * What only one transaction at a time may do, by the number that stands for it in the whole database. The schema's is
 * 760213.
 */
const TURNS = { sequence: 760214, pulls: 760215 } as const;

/**
 * Waits until no other transaction does that work; the turn ends with the transaction. On SQLite there is never another
 * one.
 */
export async function takeTurn(tx: Database, work: keyof typeof TURNS): Promise<void> {
  if (embeddedOf(tx) === undefined) await lock(tx, TURNS[work]);
}
