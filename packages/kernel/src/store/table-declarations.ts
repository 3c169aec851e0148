import type { Tables } from "./tables.ts";

/** What exports, imports and checks have to know about a table beside the types of its columns. */
export interface TableDeclaration<Column extends string = string> {
  /** The columns of the primary key; rows are read in its order. */
  readonly key: readonly Column[];
  /** Columns of bytes. */
  readonly bytes?: readonly Column[];
  /**
   * A condition for the rows that belong to the installation; the others belong to running processes. Defaults to all
   * rows.
   */
  readonly only?: string;
  /** An expression for the minimum size of a row in bytes, for tables whose rows may be large. */
  readonly weight?: string;
  /** Its rows belong to running servers: an export leaves them out. */
  readonly isLive?: true;
}

/** The declarations of an area's tables. */
export type TableDeclarations<T extends keyof Tables = keyof Tables> = {
  readonly [N in T]: TableDeclaration<keyof Tables[N] & string>;
};

/** Declares tables of the area that calls it, which are those whose columns it adds to Tables. */
export function declareTables<T extends keyof Tables>(tables: TableDeclarations<T>): TableDeclarations<T> {
  return tables;
}

/** The tables of the store itself. */
export const STORE_TABLES = declareTables({
  installation: { key: ["key"], only: "key not like 'lease:%' and key <> 'import'" },
  ancestry: { key: ["kind", "ancestor", "name", "uid"] },
  counters: { key: ["kind", "ancestor"] },
  change_keys: { key: ["number", "key"], isLive: true },
});
