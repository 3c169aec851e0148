import { CompiledQuery } from "kysely";
import { embeddedOf } from "./embedded.ts";
import type { Database } from "./store.ts";

/** A statement with its parameters, in the order of the question marks. Answers the rows. */
export type Statement<R> = (db: Database, ...parameters: (string | number | null)[]) => Promise<R[]>;

/**
 * A statement of a hot path, written out once: building and compiling a query anew costs ten times what SQLite takes to answer it, and the
 * query builder's executor as much again, so that the embedded engine is asked without it.
 * `R` is what the text selects; the suites of the rooms that use it see that it is.
 */
export function statement<R = never>(text: string): Statement<R> {
  return async (db, ...parameters) => {
    const embedded = embeddedOf(db);
    return (embedded === undefined ? (await db.executeQuery(CompiledQuery.raw(text, parameters))).rows : embedded.all(text, parameters)) as R[];
  };
}
