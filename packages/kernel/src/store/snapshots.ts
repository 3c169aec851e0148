import type { DatabaseSync } from "node:sqlite";

// A single statement takes and releases the locks of the file, which costs more than most queries. So the first
// statement of a call opens a read transaction, which the following ones use, until the call waits for anything but the
// database: then the event loop continues, and may run a call that began later and must see what was committed before
// it began.

const open = new Set<() => void>();
const settled = Promise.resolve();

/**
 * Manages snapshots on a connection that reads. Returns a function to call before each statement, which returns true
 * when it opened a snapshot.
 */
export function snapshots(database: DatabaseSync): () => boolean {
  const begin = database.prepare("begin");
  const commit = database.prepare("commit");
  let isOpen = false;
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    open.delete(end);
    if (!database.isOpen) return;
    try {
      commit.run();
    } catch {
      // A statement that met a damaged page may have ended the transaction: its caller has the error.
      if (database.isTransaction) database.exec("rollback");
    }
  };
  // A tick requested by a promise callback runs only when no other promise callback is ready.
  const endSoon = (): void => process.nextTick(end);
  return () => {
    if (isOpen) return false;
    begin.run();
    isOpen = true;
    open.add(end);
    void settled.then(endSoon);
    return true;
  };
}

/**
 * Ends the snapshots of this thread immediately: a connection of the same thread has written, and its caller may read
 * the result without waiting for the event loop.
 */
export function endSnapshots(): void {
  for (const end of open) end();
}
