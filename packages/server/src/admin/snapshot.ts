import {
  connect,
  type Database,
  databasePath,
  sqliteDatabase,
  type Store,
  StoreError,
  TransientError,
} from "@moorage/kernel/store";

/**
 * Reads one state of the database while others may write. Not for long work: the database retains what changes
 * meanwhile.
 */
export async function inSnapshot<T>(store: Store, dataDir: string, work: (db: Database) => Promise<T>): Promise<T> {
  return store.engine === "sqlite" ? inSqlite(databasePath(dataDir), work) : inPostgres(store.reader, work);
}

async function inSqlite<T>(path: string, work: (db: Database) => Promise<T>): Promise<T> {
  const raw = connect(path, { readOnly: true });
  // The transaction is opened here, not for each statement as a server's reader does.
  const db = sqliteDatabase(raw);
  try {
    raw.exec("begin");
    return await work(db);
  } finally {
    await db.destroy();
  }
}

async function inPostgres<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  const transaction = await db
    .startTransaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute();
  try {
    return await work(transaction);
  } catch (error) {
    throw error instanceof TransientError
      ? new StoreError("the connection to the database ended: run it again", { cause: error })
      : error;
  } finally {
    await transaction
      .rollback()
      .execute()
      .catch(() => {});
  }
}
