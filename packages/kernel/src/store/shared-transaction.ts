import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import { pendingChanges, setPending } from "./change-keys.ts";
import { type ManyForm, manyFormOf } from "./many.ts";
import { changedTables } from "./uncached-tables.ts";
import type { PipelinedConnection } from "./postgres-dialect.ts";
import type { Database } from "./store.ts";
import type { Tables } from "./tables.ts";
import { NAME_MEMBER } from "./watched-postgres.ts";
import { setWatched, type Touched, type WatchedRead } from "./watched-rows.ts";

/** One of those that share a transaction. */
export interface Member {
  /** The transaction, for this member alone. */
  readonly db: Database;
  /** Whether it has written, or tried to. */
  readonly hasWritten: boolean;
  /** What it has done so far, while rows are watched; otherwise nothing. */
  touched(): Touched;
  /**
   * To be called when its work has ended, by whatever way. A branch of the work that still goes on, since another one
   * failed, asks for nothing more: its writes would be those of whoever has the connection next.
   */
  end(): void;
}

/** A member's parameters. */
interface Asked {
  member: number;
  parameters: readonly unknown[];
  resolve(result: QueryResult<unknown>): void;
  reject(error: unknown): void;
}

/** A statement of all members that have asked for it. */
interface Question {
  text: string;
  /** Its form for many members. Undefined when each has to ask by itself. */
  form: ManyForm | undefined;
  asked: Asked[];
}

const members = new WeakMap<Database, (text: string, parameters: readonly unknown[]) => Promise<unknown[]>>();
const settled = Promise.resolve();
const READS = /^\s*select\b/i;

/** How a statement of a member is run, past the query builder. Undefined for any other database. */
export function memberOf(
  db: Database,
): ((text: string, parameters: readonly unknown[]) => Promise<unknown[]>) | undefined {
  return members.get(db);
}

/**
 * Shares the transaction among the members that `work` makes with `join`. The statements that they ask for in one turn
 * are sent in one packet, each member's in its order; equal ones become one statement, where they are declared for that
 * (many.ts). Of these, one that writes is not waited for. Throws the first error of a statement, after all have ended:
 * then the transaction cannot be committed.
 */
export async function shareTransaction<T>(tx: Database, work: (join: () => Member) => Promise<T>): Promise<T> {
  // The query builder itself sends each statement after the answer to the one before.
  return await tx.getExecutor().provideConnection(async (connection) => {
    const shared = shareConnection(connection as PipelinedConnection);
    const value = await work(shared.join);
    await shared.end();
    return value;
  });
}

/** `member`: who has asked; absent for several. */
type Run = (text: string, parameters: readonly unknown[], member?: number) => Promise<QueryResult<unknown>>;

function shareConnection(connection: PipelinedConnection): { join(): Member; end(): Promise<void> } {
  let failure: { error: unknown } | undefined;
  let questions: Question[] = [];
  let round = 0;
  let isOver = false;
  let joined = 0;
  const underWay = new Set<Promise<void>>();
  const { watched } = connection;
  const run: Run = async (text, parameters, member) => {
    // Before the statement, on the same connection: whoever waits for that has waited for this.
    if (watched !== undefined) void connection.send(CompiledQuery.raw(NAME_MEMBER, [String(member)])).catch(() => {});
    try {
      return await connection.send(CompiledQuery.raw(text, [...parameters]));
    } catch (error) {
      if (failure === undefined || isAborted(failure.error)) failure = { error };
      throw error;
    }
  };
  const flush = (): void => {
    // The end of the transaction has sent them already.
    if (questions.length === 0) return;
    const sent = questions;
    questions = [];
    round += 1;
    const send = (): void => {
      for (const question of sent) {
        const end = answerAll(question, run).finally(() => underWay.delete(end));
        underWay.add(end);
      }
    };
    const later = connection.together(
      send,
      sent.every(({ text }) => changedTables(text)?.size === 0),
    );
    if (later === undefined) return;
    underWay.add(later);
    void later.then(() => underWay.delete(later));
  };
  // A tick that a promise's callback asks for begins when no other callback is ready: when all members have asked.
  const flushSoon = (): void => process.nextTick(flush);
  const join = (): Member => {
    // Where the member's next statement may be at the earliest: after its last one.
    let earliest = { round, at: 0 };
    let hasWritten = false;
    let hasEnded = false;
    const member = (joined += 1);
    const reads: WatchedRead[] = [];
    const changes = pendingChanges();
    connection.changes.push(changes);
    const ask: Run = async (text, parameters) => {
      if (isOver || hasEnded) throw new Error("the transaction has ended");
      const tables = changedTables(text);
      if (watched !== undefined && tables?.size === 0) reads.push({ text, parameters });
      hasWritten ||= !READS.test(text);
      changes.note(tables);
      if (questions.length === 0) void settled.then(flushSoon);
      const from = earliest.round === round ? earliest.at : 0;
      let question = questions.find((each, at) => at >= from && each.text === text);
      if (question === undefined)
        questions.push((question = { text, form: watched ? undefined : manyFormOf(text), asked: [] }));
      earliest = { round, at: questions.indexOf(question) + 1 };
      const { asked, form } = question;
      return await new Promise((resolve, reject) => {
        if (form === undefined || form.reads) return void asked.push({ member, parameters, resolve, reject });
        asked.push({ member, parameters, resolve: () => {}, reject: () => {} });
        resolve({ rows: [] });
      });
    };
    const db = new Kysely<Tables>({ dialect: dialectOf(ask) });
    setPending(db, changes);
    members.set(db, async (text, parameters) => (await ask(text, parameters)).rows);
    const rows = () => (watched ?? []).filter((row) => row.member === String(member));
    if (watched !== undefined) setWatched(db, rows);
    return {
      db,
      touched: () => ({ rows: rows(), reads }),
      end: () => {
        hasEnded = true;
      },
      get hasWritten() {
        return hasWritten;
      },
    };
  };
  return {
    join,
    async end() {
      flush();
      while (underWay.size > 0) await Promise.all(underWay);
      isOver = true;
      if (failure !== undefined) throw failure.error;
    },
  };
}

/** Whether the statement failed because another one of the transaction had failed before. Source: SQLSTATE 25P02. */
function isAborted(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "25P02";
}

/** Answers all that have asked. Never throws. */
async function answerAll({ text, form, asked }: Question, run: Run): Promise<void> {
  if (form === undefined || asked.length === 1)
    await Promise.all(
      asked.map(({ member, parameters, resolve, reject }) => run(text, parameters, member).then(resolve, reject)),
    );
  else if (form.reads) await readMany(form, asked, run);
  else await writeMany(form, asked, run);
}

async function readMany({ text, parameters }: ManyForm, asked: readonly Asked[], run: Run): Promise<void> {
  const places = new Map<string, Asked[]>();
  for (const one of asked) {
    const key = JSON.stringify(one.parameters);
    const same = places.get(key);
    if (same === undefined) places.set(key, [one]);
    else same.push(one);
  }
  const groups = [...places.values()];
  try {
    const asking = groups.map(([first]) => first?.parameters ?? []);
    const { rows } = await run(text, columns(asking, parameters));
    const found = groups.map((): object[] => []);
    for (const { caller_, ...row } of rows as { caller_: number }[]) found[caller_ - 1]?.push(row);
    for (const [at, group] of groups.entries())
      for (const { resolve } of group) resolve({ rows: (found[at] ?? []).map((row) => ({ ...row })) });
  } catch (error) {
    for (const one of asked) one.reject(error);
  }
}

/** Nobody waits for it: `run` notes its failure. */
async function writeMany({ text, parameters }: ManyForm, asked: readonly Asked[], run: Run): Promise<void> {
  const rows = asked.map((one) => one.parameters);
  await run(text, columns(rows, parameters)).catch(() => {});
}

function columns(rows: readonly (readonly unknown[])[], width: number): unknown[][] {
  return Array.from({ length: width }, (_, at) => rows.map((row) => row[at]));
}

const ADAPTER = new PostgresAdapter();
const COMPILER = new PostgresQueryCompiler();

/** For the query builder of one member: no connection of its own, and no transactions. */
function dialectOf(run: Run): Dialect {
  const connection: DatabaseConnection = {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery) => (await run(sql, parameters)) as QueryResult<R>,
    // eslint-disable-next-line require-yield -- Kysely asks for it; nothing here streams
    async *streamQuery() {
      throw new Error("streaming is not offered");
    },
  };
  const refuse = async (): Promise<void> => {
    throw new Error("a transaction within a transaction");
  };
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    releaseConnection: async () => {},
    destroy: async () => {},
  };
  return {
    createAdapter: () => ADAPTER,
    createDriver: () => driver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => COMPILER,
  };
}
