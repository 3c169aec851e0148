import type { DatabaseSync } from "node:sqlite";
import type { Database } from "./store.ts";

/** A piece of work that waits for a transaction. */
export interface Work {
  run(tx: Database): Promise<unknown>;
  /** After the commit: what it answered, or why it did not happen. */
  settle(result: { value: unknown } | { error: unknown }): void;
}

/**
 * Runs several works in one transaction, each under a savepoint of its own: one that fails leaves nothing, and takes nobody along.
 * Nothing is settled before the commit. A commit costs one wait for the disk, however many share it.
 * The works must wait for nothing but the database, which is synchronous here: so no two transactions can overlap.
 */
export async function commitTogether(db: Database, raw: DatabaseSync, works: Work[]): Promise<void> {
  const results: ({ value: unknown } | { error: unknown })[] = [];
  try {
    raw.exec("begin immediate");
    for (const work of works) results.push(await underSavepoint(db, raw, work));
    raw.exec("commit");
  } catch (error) {
    if (raw.isTransaction) raw.exec("rollback");
    for (const work of works) work.settle({ error });
    return;
  }
  works.forEach((work, at) => work.settle(results[at] ?? { error: new Error("the work was not run") }));
}

async function underSavepoint(db: Database, raw: DatabaseSync, work: Work): Promise<{ value: unknown } | { error: unknown }> {
  raw.exec("savepoint work");
  try {
    const value = await work.run(db);
    raw.exec("release work");
    return { value };
  } catch (error) {
    // A full disk may have ended the whole transaction already: then nothing of it can be kept.
    if (!raw.isTransaction) throw error;
    raw.exec("rollback to work; release work");
    return { error };
  }
}
