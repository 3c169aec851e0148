import type { Pool, PoolClient, QueryArrayResult } from "pg";
import { MoorageError } from "../errors.ts";
import { meaningOf, retried, TransientError } from "./failures.ts";
import { manyFormOf } from "./many.ts";
import type { PostgresDialectOptions, StatementText } from "./postgres-dialect.ts";
import type { Database } from "./store.ts";

/** Reads on PostgreSQL, outside of transactions. */
export interface Reads {
  /** The rows as objects. */
  all(text: string, parameters: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** The rows as arrays, in the order of the columns. */
  arrays(text: string, parameters: readonly unknown[]): Promise<unknown[][]>;
}

export interface ReadsOptions extends PostgresDialectOptions {
  /** The number of connections that what is read together may use. */
  connections: number;
}

const known = new WeakMap<Database, Reads>();

/** Has hand-written statements on this database, which must be for reading only, read by `reads`. */
export function setReads(db: Database, reads: Reads): void {
  known.set(db, reads);
}

/** How hand-written statements on the database are read. Undefined for SQLite, and for a transaction. */
export function readsOf(db: Database): Reads | undefined {
  return known.get(db);
}

interface Found {
  columns: readonly string[];
  rows: unknown[][];
}

/** A statement's parameters, and everybody who asks for it with them. */
interface Asked {
  parameters: readonly unknown[];
  callers: { resolve(found: Found): void; reject(error: unknown): void }[];
}

interface Question {
  text: string;
  asked: Asked[];
}

/**
 * Reads by hand-written statements. Of those that are declared for many callers (many.ts), all that calls ask for in
 * one turn of the event loop goes to the database in one packet: equal statements become one, equal parameters are
 * looked up once. A question is only ever sent after it was asked, so its answer is what was committed by then.
 */
export function createReads(pool: Pool, options: ReadsOptions): Reads {
  let gathered = new Map<string, Map<string, Asked>>();
  let underWay = 0;
  let isScheduled = false;
  // Beyond that number questions are gathered until there is an answer: the busier the database, the more at a time.
  const sendSoon = (): void => {
    if (isScheduled || underWay >= options.connections) return;
    isScheduled = true;
    setImmediate(send);
  };
  const send = (): void => {
    isScheduled = false;
    const questions = [...gathered].map(([text, asked]) => ({ text, asked: [...asked.values()] }));
    gathered = new Map();
    void answered(pool, options, questions, (change) => {
      underWay += change;
      if (gathered.size > 0) sendSoon();
    });
  };
  const find = (text: string, parameters: readonly unknown[]): Promise<Found> =>
    new Promise((resolve, reject) => {
      const caller = { resolve, reject };
      if (manyFormOf(text)?.reads !== true)
        return void answered(pool, options, [{ text, asked: [{ parameters, callers: [caller] }] }]);
      let same = gathered.get(text);
      if (same === undefined) gathered.set(text, (same = new Map()));
      const key = JSON.stringify(parameters);
      const asked = same.get(key);
      if (asked === undefined) same.set(key, { parameters, callers: [caller] });
      else asked.callers.push(caller);
      sendSoon();
    });
  return {
    async all(text, parameters) {
      const { columns, rows } = await find(text, parameters);
      return rows.map((cells) => {
        const row: Record<string, unknown> = {};
        for (const [at, column] of columns.entries()) row[column] = cells[at];
        return row;
      });
    },
    arrays: async (text, parameters) => (await find(text, parameters)).rows,
  };
}

/**
 * Answers all who ask, and asks again on another connection as long as connections end. `use` is called with 1 before
 * each attempt, and with -1 after it.
 */
async function answered(
  pool: Pool,
  options: ReadsOptions,
  questions: readonly Question[],
  use: (change: 1 | -1) => void = () => {},
): Promise<void> {
  let left = questions;
  try {
    await retried(
      options.retryWindowMs,
      async () => {
        use(1);
        try {
          const { unanswered, failure } = await attempt(pool, options, left);
          left = unanswered;
          if (failure !== undefined) throw failure;
        } finally {
          use(-1);
        }
      },
      options.onRetry,
    );
  } catch (error) {
    options.onFault?.(error);
    for (const { asked } of left) rejectAll(asked, error);
  }
}

/** Sends the questions in one packet. Returns those whose connection ended before the answer. */
async function attempt(
  pool: Pool,
  { texts, onFault }: ReadsOptions,
  questions: readonly Question[],
): Promise<{ unanswered: Question[]; failure: TransientError | undefined }> {
  const client = await pool.connect().catch((error: unknown) => {
    throw meaningOf(error);
  });
  const unanswered: Question[] = [];
  let failure: TransientError | undefined;
  const { stream } = client.connection;
  stream.cork();
  const answers = questions.map(async (question) => {
    try {
      await ask(client, texts, question);
    } catch (error) {
      if (!(error instanceof TransientError)) {
        onFault?.(error);
        return rejectAll(question.asked, error);
      }
      failure = error;
      unanswered.push(question);
    }
  });
  stream.uncork();
  await Promise.all(answers);
  client.release(failure);
  return { unanswered, failure };
}

async function ask(client: PoolClient, texts: PostgresDialectOptions["texts"], question: Question): Promise<void> {
  const { text, asked } = question;
  const form = asked.length > 1 ? manyFormOf(text) : undefined;
  if (form === undefined) {
    await Promise.all(asked.map((each) => askOne(client, texts(text), each)));
    return;
  }
  const values = Array.from({ length: form.parameters }, (_, at) => asked.map(({ parameters }) => parameters[at]));
  let found: Found;
  try {
    found = await query(client, texts(form.text), values);
  } catch (error) {
    // One caller's parameter may be of a kind that PostgreSQL rejects, which is nobody else's concern.
    if (error instanceof TransientError || error instanceof MoorageError) throw error;
    await Promise.all(asked.map((each) => askOne(client, texts(text), each)));
    return;
  }
  const columns = found.columns.slice(1);
  const rows = asked.map((): unknown[][] => []);
  for (const [caller, ...cells] of found.rows) rows[Number(caller) - 1]?.push(cells);
  for (const [at, { callers }] of asked.entries())
    for (const { resolve } of callers) resolve({ columns, rows: rows[at] ?? [] });
}

/** Throws only what another attempt may answer. */
async function askOne(client: PoolClient, statement: StatementText, { parameters, callers }: Asked): Promise<void> {
  try {
    const found = await query(client, statement, parameters);
    for (const { resolve } of callers) resolve(found);
  } catch (error) {
    if (error instanceof TransientError) throw error;
    for (const { reject } of callers) reject(error);
  }
}

async function query(client: PoolClient, statement: StatementText, parameters: readonly unknown[]): Promise<Found> {
  const values = [...parameters];
  const { fields, rows }: QueryArrayResult<unknown[]> = await client
    .query<unknown[]>({ ...statement, values, rowMode: "array" })
    .catch((error: unknown) => {
      throw meaningOf(error);
    });
  return { columns: fields.map(({ name }) => name), rows };
}

function rejectAll(asked: readonly Asked[], error: unknown): void {
  for (const { callers } of asked) for (const { reject } of callers) reject(error);
}
