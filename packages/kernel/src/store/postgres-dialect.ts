import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import type { Pool, PoolClient } from "pg";
import { DECLARES_CHANGES, NOTE_CHANGES } from "./change-log.ts";
import { keysOfAll, type PendingChanges, pendingChanges } from "./change-keys.ts";
import { meaningOf, retried, TransientError, unavailable } from "./failures.ts";
import { requireSchema } from "./schema-fence.ts";
import { changedTables } from "./uncached-tables.ts";
import { type NotedRow, notedBy } from "./watched-postgres.ts";

// Kysely's own dialect prepares no statements and does not distinguish failures.

const MAX_STATEMENTS = 500;

export interface PostgresDialectOptions {
  /** For how long a read is retried after its connection failed or none was available, in milliseconds. */
  retryWindowMs: number;
  onRetry?(kind: TransientError["kind"]): void;
  /** Called with the error of a read that failed in the end. */
  onFault?(error: unknown): void;
  texts(sql: string): StatementText;
  /** Called after the commit of a transaction that left rows of what it changed. */
  onChange?(): void;
}

/** A connection whose statements need not wait for each other's answers. */
export interface PipelinedConnection extends DatabaseConnection {
  /** Like `executeQuery`, for one who notes in `changes` what the statement changes. */
  send<R>(query: CompiledQuery): Promise<QueryResult<R>>;
  /** What the transaction has changed: by itself, and by each of those that share it. */
  readonly changes: PendingChanges[];
  /**
   * Sends the statements that `work` asks for in one packet. `areReads`: whether all of them only read; such ones go
   * with the beginning of their transaction. Returns a promise when it is called later.
   */
  together(work: () => void, areReads: boolean): Promise<void> | undefined;
  /** Whether the commit of the transaction waits for the disk, which it does unless this is set at its beginning. */
  isDeferred: boolean;
  /** The rows that were changed through it; absent when they are not watched. */
  readonly watched?: NotedRow[] | undefined;
}

/** A connection of the pool while it is in use. */
interface Taken extends PipelinedConnection {
  begin(isolation: string): Promise<void>;
  end(command: "commit" | "rollback"): Promise<void>;
  release(): void;
}

/**
 * Kysely over a pool of `pg`. Each text is prepared once on each connection; question marks stand for parameters in
 * hand-written texts.
 */
export function postgresDialect(pool: Pool, options: PostgresDialectOptions): Dialect {
  const driver: Driver = {
    init: async () => {},
    acquireConnection: () => take(pool, options),
    beginTransaction: (connection, { isolationLevel = "read committed", accessMode }) =>
      (connection as Taken).begin(accessMode === undefined ? isolationLevel : `${isolationLevel} ${accessMode}`),
    commitTransaction: (connection) => (connection as Taken).end("commit"),
    rollbackTransaction: (connection) => (connection as Taken).end("rollback"),
    releaseConnection: async (connection) => (connection as Taken).release(),
    destroy: () => pool.end(),
  };
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** A statement in PostgreSQL's form. */
export interface StatementText {
  text: string;
  name?: string;
  /** As of changedTables. */
  tables?: ReadonlySet<string> | undefined;
}

/**
 * The text in PostgreSQL's form, and the name to prepare it under; texts that come once the list is full are not
 * prepared.
 */
export function statementTexts(): (sql: string) => StatementText {
  const known = new Map<string, StatementText>();
  return (sql) => {
    const found = known.get(sql);
    if (found) return found;
    let parameters = 0;
    const text = sql.includes("?") ? sql.replace(/\?/g, () => `$${(parameters += 1)}`) : sql;
    const tables = changedTables(sql);
    if (known.size >= MAX_STATEMENTS) return { text, tables };
    const made = { text, name: `m${known.size}`, tables };
    known.set(sql, made);
    return made;
  };
}

/** The version that the last statement of several has read. `answers`: what `pg` answers for all of them. */
function versionIn(answers: unknown): number {
  const [row] = (answers as { rows: { version: number }[] }[]).at(-1)?.rows ?? [];
  return row?.version ?? 0;
}

async function take(
  pool: Pool,
  { retryWindowMs, onRetry, onFault, onChange, texts }: PostgresDialectOptions,
): Promise<Taken> {
  const changes = [pendingChanges()];
  let client: PoolClient | undefined;
  let inTransaction = false;
  let broken = false;
  // A connection may end between two statements; without a listener this would end the process. The next statement
  // fails.
  const ended = (): void => {
    broken = true;
  };
  const connect = async (): Promise<void> => {
    client = await pool.connect().catch((error: unknown) => {
      throw meaningOf(error);
    });
    client.on("error", ended);
    broken = false;
  };
  const release = (): void => {
    client?.off("error", ended);
    client?.release(broken);
    client = undefined;
  };
  await retried(retryWindowMs, connect, onRetry).catch((error: unknown) => {
    onFault?.(error);
    throw error;
  });
  const query = async <R>(
    { text, name }: StatementText,
    values: unknown[] = [],
  ): Promise<{ rows: R[]; rowCount: number | null; command: string }> => {
    if (client === undefined) throw new TransientError("connection", undefined);
    try {
      return await client.query<R & object>({ text, ...(name !== undefined && { name }), values });
    } catch (error) {
      const meaning = meaningOf(error);
      broken ||= meaning instanceof TransientError && meaning.kind === "connection";
      throw meaning;
    }
  };
  const together = <T>(work: () => T): T => {
    const stream = client?.connection.stream;
    stream?.cork();
    try {
      return work();
    } finally {
      stream?.uncork();
    }
  };
  /** Has a statement that writes outside of a transaction noted by the triggers, as one by hand. */
  const byHand = async <R>(statement: StatementText, values: unknown[]): ReturnType<typeof query<R>> => {
    const declares = (value: string) => query({ text: `select set_config('${DECLARES_CHANGES}', '${value}', false)` });
    const answers = together(() => [declares("off"), query<R>(statement, values), declares("on")] as const);
    await Promise.allSettled(answers);
    return await answers[1];
  };
  // What begins a transaction, until its first statement, and the answer to it.
  let beginning: string | undefined;
  let begun: Promise<void> | undefined;
  let hasBegun = false;
  let isDeferred = false;
  let afterBeginning: Promise<void> | undefined;
  const beginNow = (): Promise<void> => {
    const text = `${beginning};${isDeferred ? " set local synchronous_commit = off;" : ""} lock table schema_version in access share mode; select version from schema_version`;
    beginning = undefined;
    begun = query({ text }).then((answers) => {
      requireSchema(versionIn(answers));
      hasBegun = true;
    });
    begun.catch(() => {});
    return begun;
  };
  /** A statement of the transaction. One that only reads need not wait until that has begun. */
  const within = async <R>(statement: StatementText, values: unknown[]): ReturnType<typeof query<R>> => {
    if (hasBegun) return await query<R>(statement, values);
    if (statement.tables?.size !== 0) {
      await (begun ?? beginNow());
      return await query<R>(statement, values);
    }
    const [start, answer] = together(() => [begun ?? beginNow(), query<R>(statement, values)] as const);
    // Where the beginning fails the statement does so, too, and says less.
    answer.catch(() => {});
    await start;
    return await answer;
  };
  const send = async <R>(statement: StatementText, parameters: readonly unknown[]): Promise<QueryResult<R>> => {
    const once = async (): Promise<QueryResult<R>> => {
      if ((broken || client === undefined) && !inTransaction) {
        release();
        await connect();
      }
      const run = inTransaction ? within<R> : statement.tables?.size === 0 ? query<R> : byHand<R>;
      const { rows, rowCount } = await run(statement, [...parameters]);
      return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
    };
    // Outside of a transaction there are only reads, which can be retried. The caller that opened a transaction retries
    // it as a whole.
    if (inTransaction) return await once();
    try {
      return await retried(retryWindowMs, once, onRetry);
    } catch (error) {
      onFault?.(error);
      throw error;
    }
  };
  /** Commits with the rows of what has changed, in one packet. Throws what those failed with. */
  const commit = async (keys: readonly string[]): Promise<{ command: string }> => {
    if (keys.length === 0) return await query({ text: "commit" });
    const [noted, committed] = together(() => [
      query({ text: NOTE_CHANGES, name: "note changes" }, [keys]),
      query({ text: "commit" }),
    ]);
    const [{ reason }, answer] = await Promise.all([
      noted.then(
        () => ({ reason: undefined }),
        (reason: unknown) => ({ reason }),
      ),
      committed,
    ]);
    if (reason !== undefined) throw reason;
    return answer;
  };
  return {
    changes,
    send: async ({ sql, parameters }) => await send(texts(sql), parameters),
    async executeQuery({ sql, parameters }) {
      const statement = texts(sql);
      if (inTransaction) changes[0]?.note(statement.tables);
      return await send(statement, parameters);
    },
    // The lock comes before the statement that fixes what the transaction sees: a migration waits for those that have
    // it, and those that wait for a migration see what it has done.
    async begin(isolation) {
      beginning = `begin isolation level ${isolation}`;
      begun = undefined;
      hasBegun = false;
      isDeferred = false;
      afterBeginning = undefined;
      inTransaction = true;
      changes.length = 1;
      changes[0]?.clear();
    },
    async end(command) {
      inTransaction = false;
      // It has not begun.
      if (beginning !== undefined) return;
      // When a connection breaks, its transaction is gone as well.
      if (broken) {
        if (command === "rollback") return;
        throw new TransientError("connection", undefined);
      }
      // Whoever went on after its beginning had failed must not commit.
      if (command === "commit") await begun;
      const keys = command === "commit" ? keysOfAll(changes) : [];
      const done = command === "commit" ? commit(keys) : query({ text: command });
      const answer = await done.catch((error: unknown) => {
        throw command === "commit" && broken
          ? unavailable(
              "the database connection ended during the commit, so it is not known whether the change was made",
              error,
            )
          : error;
      });
      // PostgreSQL answers the commit of a failed transaction with a rollback, and no error.
      if (command === "commit" && answer.command !== "COMMIT")
        throw new Error("the transaction could not be committed, since a statement in it had failed");
      if (keys.length > 0) onChange?.();
    },
    release,
    get watched() {
      return client && notedBy(client);
    },
    get isDeferred() {
      return isDeferred;
    },
    set isDeferred(value) {
      isDeferred = value;
    },
    together(work, areReads) {
      if (!inTransaction || (hasBegun && afterBeginning === undefined)) {
        together(work);
        return undefined;
      }
      if (beginning !== undefined && areReads) {
        together(() => {
          void beginNow();
          work();
        });
        return undefined;
      }
      // A statement that writes must not run where the beginning has failed, and none overtakes another.
      const next = (): void => {
        together(work);
        if (afterBeginning === sent) afterBeginning = undefined;
      };
      const sent = (afterBeginning ?? begun ?? beginNow()).then(next, next);
      afterBeginning = sent;
      return sent;
    },
    // eslint-disable-next-line require-yield -- Kysely asks for it; nothing here streams
    async *streamQuery() {
      throw new Error("streaming is not offered");
    },
  };
}
