import { DatabaseSync, type StatementSync } from "node:sqlite";
import {
  type CompiledQuery, type DatabaseConnection, type Dialect, type Driver, type QueryResult, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler,
} from "kysely";

// Kysely brings no dialect for node:sqlite. The connection is one and synchronous: what runs on it runs at once, so nothing is queued.

const MAX_STATEMENTS = 500;

/** A connection to the file. A writer waits for other processes' locks at most `busyTimeoutMs`. */
export function connect(path: string, options: { readOnly: boolean; busyTimeoutMs?: number }): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: options.readOnly, timeout: options.busyTimeoutMs ?? 5_000 });
  if (!options.readOnly) database.exec("pragma journal_mode = wal; pragma synchronous = full;");
  database.exec("pragma foreign_keys = on; pragma cache_size = -65536; pragma mmap_size = 268435456; pragma temp_store = memory;");
  return database;
}

/** Kysely over one open connection. Transactions are opened by hand on it, see writer.ts. */
export function sqliteDialect(database: DatabaseSync): Dialect {
  const connection = sqliteConnection(database);
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: async () => { database.exec("begin immediate"); },
    commitTransaction: async () => { database.exec("commit"); },
    rollbackTransaction: async () => { database.exec("rollback"); },
    releaseConnection: async () => {},
    destroy: async () => database.close(),
  };
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

interface Prepared { statement: StatementSync; answers: boolean }

function sqliteConnection(database: DatabaseSync): DatabaseConnection {
  const statements = new Map<string, Prepared>();
  const prepare = (sql: string): Prepared => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = database.prepare(sql);
    // Asking a statement for its columns costs as much as a point read: it is asked once.
    const prepared = { statement, answers: statement.columns().length > 0 };
    if (statements.size >= MAX_STATEMENTS) statements.delete(statements.keys().next().value ?? "");
    statements.set(sql, prepared);
    return prepared;
  };
  return {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const { statement, answers } = prepare(sql);
      const values = parameters.map(bindable);
      if (answers) return { rows: statement.all(...values) as R[] };
      const { changes, lastInsertRowid } = statement.run(...values);
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    },
    // eslint-disable-next-line require-yield -- Kysely asks for it; nothing here streams
    async *streamQuery() {
      throw new Error("streaming is not offered");
    },
  };
}

// node:sqlite takes an object for named parameters and binds nothing, silently.
function bindable(value: unknown): string | number | bigint | Uint8Array | null {
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint" || value === null || value instanceof Uint8Array) return value;
  throw new TypeError(`cannot bind a value of type ${typeof value}`);
}
