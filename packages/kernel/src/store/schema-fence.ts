import type { DatabaseSync } from "node:sqlite";
import { Code, MoorageError } from "../errors.ts";
import { NEWEST_VERSION } from "./migrations.ts";

// Every transaction that writes reads the schema's version first, so that nothing is committed by a program of another
// version than the schema's: one that is older would write what the newer schema means differently, and remove what it
// has no table for. Source: docs/adr/0027.

/** How the schema of the database differs from the one that this program works with. */
export type SchemaDifference = "newer" | "older";

/**
 * How a schema version differs from this program's: newer after another process has migrated the database, older after
 * the database was replaced by an older copy of itself. Undefined when it does not.
 */
export function differenceOf(version: number): SchemaDifference | undefined {
  if (version === NEWEST_VERSION) return undefined;
  return version > NEWEST_VERSION ? "newer" : "older";
}

/** What an operator has to do, in one sentence for callers, the log and `/readyz`. */
export function describeDifference(version: number): string {
  return differenceOf(version) === "newer"
    ? `the database was migrated to schema ${version} by a newer moorage; this one knows ${NEWEST_VERSION} and writes nothing: update it`
    : `the database is of schema ${version}, older than this moorage, which works with ${NEWEST_VERSION} and writes nothing: restart it to migrate`;
}

const RETRY_MS = 5_000;

/** Throws UNAVAILABLE unless the schema in the database is the one that this program works with. */
export function requireSchema(version: number): void {
  if (differenceOf(version) === undefined) return;
  throw new MoorageError(Code.Unavailable, `Unavailable: ${describeDifference(version)}`, { retryAfterMs: RETRY_MS });
}

/**
 * A function that throws UNAVAILABLE unless the schema of the file is this program's. To be called inside a transaction
 * that writes: no other process can migrate the file until it ends.
 */
export function schemaFence(database: DatabaseSync): () => void {
  const select = database.prepare("pragma user_version");
  return () => requireSchema((select.get() as { user_version: number }).user_version);
}
