import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { Code, MoorageError } from "../errors.ts";
import type { ChangeKeys } from "./change-keys.ts";
import { embeddedOf } from "./embedded-engine.ts";
import type { Database } from "./store.ts";

/** A write that waits for a transaction. */
export interface Work {
  run(tx: Database): Promise<unknown>;
  /** Whether what it writes is rolled back, and only its result stays. Defaults to false. */
  isDryRun?: boolean;
  /**
   * Whether its commit need not wait for the disk: a crash of the machine may take it back, with the deferred ones
   * after it, but never one that a durable one came after. Defaults to false.
   */
  isDeferred?: boolean;
  /** What it has changed, by its result; undefined, the default, for everything. See store/key-cache.ts. */
  changes?(value: unknown): ChangeKeys | undefined;
  /** Called after the commit, with the result of the write or the reason why it did not happen. */
  settle(result: Result): void;
}

type Result = { value: unknown } | { error: unknown };

/**
 * Runs several writes in one transaction: a write that fails changes nothing, and does not affect the others. Nothing
 * is settled before the commit. A commit costs one wait for the disk, however many writes share it, and none when all
 * of them are deferred. The writes must not wait for anything but the database, which is synchronous here: so no two
 * transactions can overlap. One that shares a transaction may be run twice, so it must have no other effects. `fence`
 * is called first in each transaction: when it throws, no write is run, and all are settled with its error.
 */
export async function commitTogether(
  db: Database,
  raw: DatabaseSync,
  works: Work[],
  fence: () => void = () => {},
): Promise<void> {
  let results: Result[];
  try {
    waitForDisk(raw, !works.every(({ isDeferred }) => isDeferred === true));
    await begin(raw);
    fence();
    const all = await runBare(db, raw, works);
    if (all === undefined) {
      await begin(raw);
      fence();
    }
    results = all ?? (await runGuarded(db, raw, works));
    // Without a commit other connections need not look for changes.
    if (raw.isTransaction) raw.exec(works.every(({ isDryRun }) => isDryRun === true) ? "rollback" : "commit");
  } catch (error) {
    rollBack(raw);
    for (const work of works) work.settle({ error });
    return;
  }
  works.forEach((work, at) => work.settle(results[at] ?? { error: new Error("the work was not run") }));
}

const waiting = new WeakMap<DatabaseSync, boolean>();

/**
 * Sets whether the next commits wait until the write-ahead log is on the disk. Every wait is for all of the log, so
 * that a commit that waits makes those before it durable, whichever process made them.
 */
function waitForDisk(raw: DatabaseSync, waits: boolean): void {
  // A connection is opened as one that waits (sqlite.ts).
  if ((waiting.get(raw) ?? true) === waits) return;
  // A prepared statement, since what `exec` runs counts as a change of tables.
  raw.prepare(`pragma synchronous = ${waits ? "full" : "normal"}`).run();
  waiting.set(raw, waits);
}

function rollBack(raw: DatabaseSync): void {
  try {
    if (raw.isTransaction) raw.exec("rollback");
  } catch {
    // The writes get the first error; a damaged file may not even let go of the transaction.
  }
}

/**
 * Runs the writes without savepoints: each savepoint copies every page that its write changes first. Few writes fail,
 * and most of these before they changed anything, which leaves nothing to undo. Undefined when one failed later than
 * that beside others: then the transaction is rolled back. A write that is alone is undone with its transaction. Only
 * dry runs have savepoints, as each of them is undone.
 */
async function runBare(db: Database, raw: DatabaseSync, works: readonly Work[]): Promise<Result[] | undefined> {
  const written = embeddedOf(db)?.written;
  const results: Result[] = [];
  for (const work of works) {
    if (work.isDryRun === true) {
      results.push(await runInSavepoint(db, raw, work));
      continue;
    }
    const before = written?.();
    try {
      results.push({ value: await runDeclared(db, work) });
    } catch (error) {
      // A full disk may already have ended the whole transaction: then nothing of it can be kept.
      if (!raw.isTransaction) throw error;
      if (before === undefined || written?.() !== before) {
        raw.exec("rollback");
        if (works.length > 1) return undefined;
      }
      results.push({ error });
    }
  }
  return results;
}

async function runDeclared(db: Database, work: Work): Promise<unknown> {
  const value = await workOf(db, work);
  embeddedOf(db)?.declare?.(work.changes?.(value));
  return value;
}

/**
 * Runs the write to its end: when one of its branches has failed, another may go on, and what that writes is part of
 * this write as well. It waits for nothing but the database, so by the next turn of the event loop it has ended.
 */
async function workOf(db: Database, work: Work): Promise<unknown> {
  try {
    return await work.run(db);
  } catch (error) {
    await nextTurn();
    throw error;
  }
}

/** Runs each write under its own savepoint. */
async function runGuarded(db: Database, raw: DatabaseSync, works: readonly Work[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const work of works) results.push(await runInSavepoint(db, raw, work));
  return results;
}

/** Runs the write, and undoes it when it fails or is a dry run. */
async function runInSavepoint(db: Database, raw: DatabaseSync, work: Work): Promise<Result> {
  raw.exec("savepoint work");
  let result: Result;
  try {
    result = { value: await runDeclared(db, work) };
  } catch (error) {
    if (!raw.isTransaction) throw error;
    result = { error };
  }
  if ("error" in result || work.isDryRun === true) raw.exec("rollback to work");
  raw.exec("release work");
  return result;
}

const SQLITE_BUSY = 5;
const LONGEST_WAIT_MS = 30_000;
const POLITE_MS = 1_000;
const LONGEST_SLEEP_MS = 10;
const contended = new WeakMap<DatabaseSync, number>();
const nothing = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread for so many milliseconds, which may be a part of one: timers know whole ones alone. */
function sleep(ms: number): void {
  Atomics.wait(nothing, 0, 0, ms);
}

/**
 * Takes the write lock of the file, which the writer threads of other processes need as well. SQLite's own waiting
 * sleeps for longer and longer intervals, up to a tenth of a second: a process that has just released the lock and
 * needs it again would always get it first. So every process asks often, and one that recently met contention lets the
 * others go first. Most commits take less than a timer's shortest wait, so the thread sleeps for the first few
 * milliseconds: without the lock it has nothing else to do but to receive what waits for it as well.
 */
async function begin(raw: DatabaseSync): Promise<void> {
  const startedMs = performance.now();
  if (startedMs - (contended.get(raw) ?? -Infinity) < POLITE_MS) sleep(Math.random() * 0.4);
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
    if (performance.now() - startedMs < LONGEST_SLEEP_MS) sleep(0.05 + Math.random() * 0.1);
    else await wait(0.5 + Math.random() * 2);
  }
}

/** Whether another connection holds the lock of the file. */
export function isBusy(error: unknown): boolean {
  return (
    error instanceof Error &&
    "errcode" in error &&
    typeof error.errcode === "number" &&
    (error.errcode & 0xff) === SQLITE_BUSY
  );
}
