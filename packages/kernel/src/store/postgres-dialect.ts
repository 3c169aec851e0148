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
import { meaningOf, retried, TransientError, unavailable } from "./failures.ts";
import { requireSchema } from "./schema-fence.ts";
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
}

/** A connection whose statements need not wait for each other's answers. */
export interface PipelinedConnection extends DatabaseConnection {
  /** Sends the statements that `work` asks for in one packet. */
  together(work: () => void): void;
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
    if (known.size >= MAX_STATEMENTS) return { text };
    const made = { text, name: `m${known.size}` };
    known.set(sql, made);
    return made;
  };
}

/** The version that the last statement of several has read. `answers`: what `pg` answers for all of them. */
function versionIn(answers: unknown): number {
  const [row] = (answers as { rows: { version: number }[] }[]).at(-1)?.rows ?? [];
  return row?.version ?? 0;
}

async function take(pool: Pool, { retryWindowMs, onRetry, onFault, texts }: PostgresDialectOptions): Promise<Taken> {
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
    statement: StatementText,
    values: unknown[] = [],
  ): Promise<{ rows: R[]; rowCount: number | null; command: string }> => {
    if (client === undefined) throw new TransientError("connection", undefined);
    try {
      return await client.query<R & object>({ ...statement, values });
    } catch (error) {
      const meaning = meaningOf(error);
      broken ||= meaning instanceof TransientError && meaning.kind === "connection";
      throw meaning;
    }
  };
  return {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const statement = texts(sql);
      const once = async (): Promise<QueryResult<R>> => {
        if ((broken || client === undefined) && !inTransaction) {
          release();
          await connect();
        }
        const { rows, rowCount } = await query<R>(statement, parameters as unknown[]);
        return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
      };
      // Outside of a transaction there are only reads, which can be retried. The caller that opened a transaction
      // retries it as a whole.
      if (inTransaction) return await once();
      try {
        return await retried(retryWindowMs, once, onRetry);
      } catch (error) {
        onFault?.(error);
        throw error;
      }
    },
    async begin(isolation) {
      // The lock comes before the statement that fixes what the transaction sees: a migration waits for those that have
      // it, and those that wait for a migration see what it has done.
      try {
        requireSchema(
          versionIn(
            await query({
              text: `begin isolation level ${isolation}; lock table schema_version in access share mode; select version from schema_version`,
            }),
          ),
        );
      } catch (error) {
        if (!broken)
          await query({ text: "rollback" }).catch(() => {
            broken = true;
          });
        throw error;
      }
      inTransaction = true;
    },
    async end(command) {
      inTransaction = false;
      // When a connection breaks, its transaction is gone as well.
      if (broken) {
        if (command === "rollback") return;
        throw new TransientError("connection", undefined);
      }
      const answer = await query({ text: command }).catch((error: unknown) => {
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
    },
    release,
    get watched() {
      return client && notedBy(client);
    },
    together(work) {
      const stream = client?.connection.stream;
      stream?.cork();
      try {
        work();
      } finally {
        stream?.uncork();
      }
    },
    // eslint-disable-next-line require-yield -- Kysely asks for it; nothing here streams
    async *streamQuery() {
      throw new Error("streaming is not offered");
    },
  };
}
