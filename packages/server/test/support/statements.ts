import { StatementSync } from "node:sqlite";
import { CompiledQuery } from "kysely";
import pg from "pg";
import type { Database } from "../../../kernel/src/store/index.ts";

/** An executed statement. */
export interface Ran {
  text: string;
  values: unknown[];
}
interface Node {
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: Node[];
}

// What begins and ends transactions on PostgreSQL, and asks what others have changed.
const AROUND = /^(?:begin|commit|rollback)\b|^select pg_current_snapshot\b|^insert into change_keys\b/;

let ran: Ran[] = [];
/** Files that share the process run statements that nobody asks for. */
let records = false;

// Every statement of this process goes through one of these two.
const all = StatementSync.prototype.all;
StatementSync.prototype.all = function (this: StatementSync, ...values: unknown[]) {
  if (records) ran.push({ text: this.sourceSQL, values });
  return Reflect.apply(all, this, values);
};
const query = pg.Client.prototype.query;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const [asked] = args as [Partial<Ran> | undefined];
  if (records && typeof asked?.text === "string" && !AROUND.test(asked.text))
    ran.push({ text: asked.text, values: asked.values ?? [] });
  return Reflect.apply(query, this, args);
};

// What matching asks beside all else (causes/matching-state.ts): whether there is a row of each kind of work.
const OF_MATCHING = /^\s*select\s+\(select 1 from feeds where run <> ''/;

/** The statements that the work executed, without that of matching, which may run beside it. */
export async function statementsRun(work: () => Promise<unknown>): Promise<Ran[]> {
  forgetStatements();
  await work();
  records = false;
  return ran.filter(({ text }) => !OF_MATCHING.test(text));
}

/** The statements executed since they were forgotten, while others may still run. */
export function statementsSoFar(): readonly Ran[] {
  return ran;
}

/** Forgets the statements executed so far, and keeps those that follow. */
export function forgetStatements(): void {
  ran = [];
  records = true;
}

/** SQLite's query plan of the statement, step by step. */
export async function planOf(db: Database, { text }: Ran): Promise<string[]> {
  const { rows } = await db.executeQuery<{ detail: string }>(CompiledQuery.raw(`explain query plan ${text}`));
  return rows.map(({ detail }) => detail);
}

/** The rows that all parts of PostgreSQL's plan returned or discarded. Executes the statement once more. */
export async function rowsRead(db: Database, { text, values }: Ran): Promise<number> {
  const { rows } = await db.executeQuery<{ "QUERY PLAN": { Plan: Node }[] }>(
    CompiledQuery.raw(`explain (analyze, format json) ${text}`, values),
  );
  const sum = (node: Node): number =>
    (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0)) *
      node["Actual Loops"] +
    (node.Plans ?? []).reduce((total, inner) => total + sum(inner), 0);
  return sum(rows[0]?.["QUERY PLAN"][0]?.Plan ?? { "Actual Rows": Number.NaN, "Actual Loops": 1 });
}
