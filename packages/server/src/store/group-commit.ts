import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { Code, MoorageError } from "../errors.ts";
import type { Database } from "./store.ts";

/** A write that waits for a transaction. */
export interface Work {
  run(tx: Database): Promise<unknown>;
  /** Called after the commit, with the result of the write or the reason why it did not happen. */
  settle(result: { value: unknown } | { error: unknown }): void;
}

/**
 * Runs several writes in one transaction, each under its own savepoint: a write that fails changes nothing, and does
 * not affect the others. Nothing is settled before the commit. A commit costs one wait for the disk, however many
 * writes share it. The writes must not wait for anything but the database, which is synchronous here: so no two
 * transactions can overlap.
 */
export async function commitTogether(db: Database, raw: DatabaseSync, works: Work[]): Promise<void> {
  const results: ({ value: unknown } | { error: unknown })[] = [];
  try {
    await begin(raw);
    for (const work of works) results.push(await underSavepoint(db, raw, work));
    raw.exec("commit");
  } catch (error) {
    rollBack(raw);
    for (const work of works) work.settle({ error });
    return;
  }
  works.forEach((work, at) => work.settle(results[at] ?? { error: new Error("the work was not run") }));
}

function rollBack(raw: DatabaseSync): void {
  try {
    if (raw.isTransaction) raw.exec("rollback");
  } catch {
    // The writes get the first error; a damaged file may not even let go of the transaction.
  }
}

const prepared = new WeakMap<DatabaseSync, Record<"savepoint" | "release" | "rollback", StatementSync>>();

function savepointsOf(raw: DatabaseSync): Record<"savepoint" | "release" | "rollback", StatementSync> {
  const known = prepared.get(raw);
  if (known) return known;
  const fresh = {
    savepoint: raw.prepare("savepoint work"),
    release: raw.prepare("release work"),
    rollback: raw.prepare("rollback to work"),
  };
  prepared.set(raw, fresh);
  return fresh;
}

async function underSavepoint(
  db: Database,
  raw: DatabaseSync,
  work: Work,
): Promise<{ value: unknown } | { error: unknown }> {
  const { savepoint, release, rollback } = savepointsOf(raw);
  savepoint.run();
  try {
    const value = await work.run(db);
    release.run();
    return { value };
  } catch (error) {
    // A full disk may already have ended the whole transaction: then nothing of it can be kept.
    if (!raw.isTransaction) throw error;
    rollback.run();
    release.run();
    return { error };
  }
}

const SQLITE_BUSY = 5;
const LONGEST_WAIT_MS = 30_000;
const POLITE_MS = 1_000;
const contended = new WeakMap<DatabaseSync, number>();

/**
 * Takes the write lock of the file, which the writer threads of other processes need as well. SQLite's own waiting
 * sleeps for longer and longer intervals, up to a tenth of a second: a process that has just released the lock and
 * needs it again would always get it first. So every process asks often, and one that recently met contention lets the
 * others go first.
 */
async function begin(raw: DatabaseSync): Promise<void> {
  const startedMs = performance.now();
  if (startedMs - (contended.get(raw) ?? -Infinity) < POLITE_MS) await wait(Math.random() * 2);
  for (;;) {
    try {
      raw.exec("begin immediate");
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      const nowMs = performance.now();
      if (nowMs - startedMs > LONGEST_WAIT_MS) {
        throw new MoorageError(Code.Unavailable, "Unavailable: the database is too busy", {
          cause: error,
          retryAfterMs: 1000,
        });
      }
      contended.set(raw, nowMs);
    }
    await wait(0.5 + Math.random() * 2);
  }
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Error &&
    "errcode" in error &&
    typeof error.errcode === "number" &&
    (error.errcode & 0xff) === SQLITE_BUSY
  );
}
