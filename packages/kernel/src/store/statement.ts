import { CompiledQuery } from "kysely";
import type { Awaitable } from "../lib/awaitable.ts";
import { type Bindable, embeddedOf } from "./embedded-engine.ts";
import { declareMany, type ParameterType } from "./many.ts";
import { readsOf } from "./read-together.ts";
import { memberOf } from "./shared-transaction.ts";
import type { Database } from "./store.ts";

/**
 * A statement with its parameters, in the order of the question marks. Returns the rows; on the embedded engine without
 * a promise.
 */
export type Statement<R> = (db: Database, ...parameters: (string | number | null)[]) => Awaitable<R[]>;

/**
 * A hand-written statement for a hot path: building and compiling a query each time takes ten times as long as SQLite
 * needs to answer it, and the query builder's executor the same again, so the embedded engine is called directly. `R`
 * is the type of the selected columns; the tests of the services that use the statement verify it. `many`: the types of
 * the parameters, where PostgreSQL may be asked for many callers together; see declareMany.
 */
export function statement<R = never>(text: string, many?: readonly ParameterType[]): Statement<R> {
  if (many !== undefined) declareMany(text, many);
  return (db, ...parameters) => select<R>(db, text, parameters);
}

/** The rows that PostgreSQL returns. */
async function rowsOf(db: Database, text: string, parameters: readonly Bindable[]): Promise<unknown[]> {
  const reads = readsOf(db);
  if (reads !== undefined) return await reads.all(text, parameters);
  const member = memberOf(db);
  if (member !== undefined) return await member(text, parameters);
  return (await db.executeQuery(CompiledQuery.raw(text, [...parameters]))).rows;
}

/**
 * The rows of a text made for this call, as objects. Parameters are question marks, or the placeholders of the query
 * builder. `R` is the type of the selected columns, as for `statement`.
 */
export function select<R = Record<string, unknown>>(
  db: Database,
  text: string,
  parameters: readonly Bindable[],
): Awaitable<R[]> {
  return (embeddedOf(db)?.all(text, parameters) ?? rowsOf(db, text, parameters)) as Awaitable<R[]>;
}

/**
 * Like `select`, with each row as an array of these columns, which must be those that the text selects, in its order.
 */
export function selectArrays(
  db: Database,
  text: string,
  parameters: readonly Bindable[],
  columns: readonly string[],
): Awaitable<unknown[][]> {
  return embeddedOf(db)?.arrays(text, parameters) ?? arraysOf(db, text, parameters, columns);
}

/** The rows that PostgreSQL returns, as arrays. */
async function arraysOf(
  db: Database,
  text: string,
  parameters: readonly Bindable[],
  columns: readonly string[],
): Promise<unknown[][]> {
  const reads = readsOf(db);
  if (reads !== undefined) return await reads.arrays(text, parameters);
  return (await select(db, text, parameters)).map((row) => columns.map((column) => row[column]));
}
