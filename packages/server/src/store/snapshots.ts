import type { DatabaseSync } from "node:sqlite";

// A statement by itself takes the file's locks and gives them back, which costs more than most answers. So the first
// statement of a call opens a read transaction and all that follow answer from it, until the call waits for anything
// but the database: then the event loop goes on, and what it calls next may be a call that began later and must see
// what was committed before it began.

const open = new Set<() => void>();
const settled = Promise.resolve();

/**
 * Snapshots on a reading connection: what it gives is to be called before each statement. Answers true when a snapshot
 * was opened.
 */
export function snapshots(database: DatabaseSync): () => boolean {
  const begin = database.prepare("begin");
  const commit = database.prepare("commit");
  let isOpen = false;
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    open.delete(end);
    if (database.isOpen) commit.run();
  };
  // Ticks run once no promise is left that could go on, when they are asked for by one that goes on.
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
 * Ends the snapshots of this thread immediately: a connection of the same thread has written, and who waits for it may
 * not wait for anything else.
 */
export function endSnapshots(): void {
  for (const end of open) end();
}
