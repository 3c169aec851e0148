export { commitTogether, type Work } from "./group-commit.ts";
export { addToAncestors, changeCount, dropName, type Kind, removeFromAncestors, renameInAncestors, takeName } from "./ancestry.ts";
export { type Database, databasePath, lockDataDir, migrate, openReader, openWriter, StoreError } from "./open.ts";
export { statement, type Statement } from "./statement.ts";
export type { ResourceTable, Row, Tables } from "./tables.ts";
