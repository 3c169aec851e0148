import { CompiledQuery } from "kysely";
import { type Bindable, embeddedOf } from "./embedded.ts";
import type { Database } from "./store.ts";

/** A statement with its parameters, in the order of the question marks. Answers the rows. */
export type Statement<R> = (db: Database, ...parameters: (string | number | null)[]) => Promise<R[]>;

/**
 * A statement of a hot path, written out once: building and compiling a query anew costs ten times what SQLite takes to
 * answer it, and the query builder's executor as much again, so that the embedded engine is asked without it. `R` is
 * what the text selects; the suites of the services that use it show that it is.
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
 * The rows of a text made for this call, as objects. Question marks stand for the parameters, or what the query builder
 * puts there. `R` is what the text selects, as for `statement`.
 */
export async function select<R = Record<string, unknown>>(
  db: Database,
  text: string,
  parameters: readonly Bindable[],
): Promise<R[]> {
  return (embeddedOf(db)?.all(text, parameters) ??
    (await db.executeQuery(CompiledQuery.raw(text, [...parameters]))).rows) as R[];
}

/** The same with each row as an array of these columns, which must be the ones that the text selects, in its order. */
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
