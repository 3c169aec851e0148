import { CompiledQuery } from "kysely";
import { type Bindable, embeddedOf } from "./embedded.ts";
import type { Database } from "./store.ts";

/** A statement with its parameters, in the order of the question marks. Returns the rows. */
export type Statement<R> = (db: Database, ...parameters: (string | number | null)[]) => Promise<R[]>;

/**
 * A hand-written statement for a hot path: building and compiling a query each time takes ten times as long as SQLite
 * needs to answer it, and the query builder's executor the same again, so the embedded engine is called directly. `R`
 * is the type of the selected columns; the tests of the services that use the statement verify it.
 */
export function statement<R = never>(text: string): Statement<R> {
  return async (db, ...parameters) => {
    const embedded = embeddedOf(db);
    return (
      embedded === undefined
        ? (await db.executeQuery(CompiledQuery.raw(text, parameters))).rows
        : embedded.all(text, parameters)
    ) as R[];
  };
}

/**
 * The rows of a text made for this call, as objects. Parameters are question marks, or the placeholders of the query
 * builder. `R` is the type of the selected columns, as for `statement`.
 */
export async function select<R = Record<string, unknown>>(
  db: Database,
  text: string,
  parameters: readonly Bindable[],
): Promise<R[]> {
  return (embeddedOf(db)?.all(text, parameters) ??
    (await db.executeQuery(CompiledQuery.raw(text, [...parameters]))).rows) as R[];
}

/**
 * Like `select`, with each row as an array of these columns, which must be those that the text selects, in its order.
 */
export async function selectArrays(
  db: Database,
  text: string,
  parameters: readonly Bindable[],
  columns: readonly string[],
): Promise<unknown[][]> {
  return (
    embeddedOf(db)?.arrays(text, parameters) ??
    (await select(db, text, parameters)).map((row) => columns.map((column) => row[column]))
  );
}
