export {
  addToAncestors,
  changeCount,
  forgetCounts,
  type Kind,
  type LibraryKind,
  removeDescent,
  repairCount,
  repairDescent,
  removeFromAncestors,
  renameInAncestors,
} from "./ancestry.ts";
export { databasePath } from "../lib/database-path.ts";
export { describeDamage, isDamage } from "./damage.ts";
export { placeOf } from "./postgres-place.ts";
export { addValues, putValue, removeValue } from "./installation-values.ts";
export { type Bindable, embeddedOf } from "./embedded-engine.ts";
export { TransientError } from "./failures.ts";
export { commitTogether, type Work } from "./group-commit.ts";
export { declareMany } from "./many.ts";
export { migrationsAfter, NEWEST_VERSION } from "./migrations.ts";
export { lockDataDir, migrate, openReader, openStore, openWriter, type OpenWriter } from "./open.ts";
export { describeDifference, differenceOf, type SchemaDifference } from "./schema-fence.ts";
export { type Member, shareTransaction } from "./shared-transaction.ts";
export { type ChangeKeys, declareChanges } from "./change-keys.ts";
export { createKeyCache, type KeyCache, type Snapshot } from "./key-cache.ts";
export { snapshotCaches } from "./snapshot-cache.ts";
export { connect, sqliteDatabase } from "./sqlite.ts";
export { select, selectArrays, statement, type Statement } from "./statement.ts";
export { type FileIdentity, identityOf, requireSameFile, sqliteMeaning } from "./sqlite-faults.ts";
export { type Database, type Store, StoreError, type StoreSettings, type TransactOptions } from "./store.ts";
export { declareTables, STORE_TABLES, type TableDeclaration, type TableDeclarations } from "./table-declarations.ts";
export type { ResourceTable, Row, Tables } from "./tables.ts";
export { takeAdvisoryLock } from "./advisory-lock.ts";
export type { DeclarableTable } from "./uncached-tables.ts";
export {
  type Columns,
  DeclarationError,
  takeWatchedRows,
  type Touched,
  type WatchedRead,
  type WatchedRow,
  WATCHES_ROWS,
} from "./watched-rows.ts";
