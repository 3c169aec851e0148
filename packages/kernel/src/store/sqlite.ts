import { DatabaseSync, type StatementSync } from "node:sqlite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { faultIn } from "../lib/storage-fault.ts";
import { countChanges } from "./changes.ts";
import { isDamage } from "./damage.ts";
import { type Bindable, type Embedded, setEmbedded } from "./embedded-engine.ts";
import {
  type ChangeKeys,
  DELETE_KEYS,
  INSERT_KEY,
  KEPT_COMMITS,
  pendingChanges,
  REMOVED_EVERY,
  seenChanges,
  SELECT_KEYS,
} from "./change-keys.ts";
import { areUncached, changedTables } from "./uncached-tables.ts";
import { endSnapshots, snapshots } from "./snapshots.ts";
import type { Database } from "./store.ts";
import type { Tables } from "./tables.ts";

// Kysely has no dialect for node:sqlite. There is one synchronous connection: statements on it run synchronously, so
// nothing is queued.

const MAX_STATEMENTS = 500;

/** Opens a connection to the file. A writer waits for locks of other processes for at most `busyTimeoutMs`. */
export function connect(
  path: string,
  { readOnly, busyTimeoutMs = 30_000 }: { readOnly: boolean; busyTimeoutMs?: number },
): DatabaseSync {
  const database = readOnly
    ? new DatabaseSync(path, { readOnly, timeout: busyTimeoutMs })
    : new WritingDatabase(path, { timeout: busyTimeoutMs });
  if (!readOnly) database.exec("pragma journal_mode = wal; pragma synchronous = full;");
  database.exec(
    "pragma foreign_keys = on; pragma cache_size = -65536; pragma mmap_size = 268435456; pragma temp_store = memory;",
  );
  return database;
}

// Leave every table as it is. All other texts that `exec` runs may change any.
const KEEPS_TABLES = /^(?:begin|commit|savepoint|release)\b[^;]*$/;

// Transactions are ended by `exec`. Readers of the same thread must see them from then on, and must not block
// checkpoints.
class WritingDatabase extends DatabaseSync {
  readonly changes = countChanges();
  readonly pending = pendingChanges();
  #isBegun = false;
  #commitOfOthers: number | undefined;
  #selectCommit: StatementSync | undefined;
  #insertKey: StatementSync | undefined;

  override exec(text: string): void {
    endSnapshots();
    if (this.pending.any() && /\bcommit\b/.test(text)) this.#count();
    super.exec(text);
    if (!KEEPS_TABLES.test(text)) this.changes.note(undefined);
    if (/^begin\b/.test(text)) this.#begun();
    if (text === "commit") this.#isBegun = false;
    // One savepoint at a time (group-commit.ts): what is undone does not count.
    if (/^savepoint\b/.test(text)) this.pending.mark();
    if (/^rollback to\b/.test(text)) this.pending.back();
    const tables = changedTables(text);
    if (!areUncached(tables)) this.#changed(tables);
    else if (!this.isTransaction) this.pending.clear();
  }

  /** Called after statements that were run by other means. `tables`: as of Changes. */
  ran(tables: ReadonlySet<string> | undefined): void {
    this.changes.note(tables);
    if (!areUncached(tables)) this.#changed(tables);
  }

  #changed(tables: ReadonlySet<string> | undefined): void {
    this.pending.note(tables);
    if (!this.isTransaction) this.#count();
  }

  // What other connections committed is known only here; in the transaction they commit nothing. The engine itself may
  // have rolled back the transaction before.
  #begun(): void {
    this.#selectCommit ??= this.prepare("pragma data_version");
    const { data_version: newest } = this.#selectCommit.get() as { data_version: number };
    if (this.#isBegun || newest !== this.#commitOfOthers) this.changes.note(undefined);
    this.#commitOfOthers = newest;
    this.#isBegun = true;
  }

  // A 32-bit number in the file's header that applications may use: every database has it, and it is committed with the
  // other changes.
  #count(): void {
    const { application_id: count } = this.prepare("pragma application_id").get() as { application_id: number };
    const number = (count + 1) | 0;
    super.exec(`pragma application_id = ${number}`);
    this.#keep(number, this.pending.keys());
    this.pending.clear();
  }

  #keep(number: number, keys: ChangeKeys | undefined): void {
    if (keys === undefined) return;
    this.#insertKey ??= this.prepare(INSERT_KEY);
    for (const key of keys.length === 0 ? [""] : keys) this.#insertKey.run(number, key);
    if (number % REMOVED_EVERY === 0) this.prepare(DELETE_KEYS).run(number - KEPT_COMMITS);
  }
}

/** A Database over one open connection, whose transactions are opened by its owner, such as group-commit.ts. */
export function sqliteDatabase(database: DatabaseSync): Database {
  if (!(database instanceof WritingDatabase)) return databaseOf(database, engineOf(database, endSnapshots));
  const { changes } = database;
  return databaseOf(database, {
    ...engineOf(database, endSnapshots, (tables) => database.ran(tables)),
    written: changes.written,
    declare: database.pending.declare,
    versionOf: (tables) => (database.isTransaction ? changes.versionOf(tables) : undefined),
  });
}

export interface ReadingEvents {
  /** Called when the engine finds the file damaged. */
  onDamage?(error: Error): void;
  /** Called with each fault of the storage. */
  onFault?(error: unknown): void;
  /** Translates an error of the engine to the fault that it stands for. */
  meaningOf?(error: unknown): unknown;
}

/**
 * A Database that only reads, by the snapshots of snapshots.ts. When the engine finds the file damaged, or cannot read
 * it, the statement's caller gets the error; the connection is opened again for the next statement, since it may have
 * kept what it read wrongly.
 */
export function readingDatabase(
  open: () => DatabaseSync,
  { onDamage = () => {}, onFault = () => {}, meaningOf = (error) => error }: ReadingEvents = {},
): Database {
  const openEngine = (): { database: DatabaseSync; engine: ReadingEngine } => {
    const database = open();
    return { database, engine: readingEngine(database) };
  };
  let current: ReturnType<typeof openEngine> | undefined = openEngine();
  let isClosed = false;
  const closeCurrent = (): void => {
    const { database } = current ?? {};
    current = undefined;
    if (database?.isOpen === true) database.close();
  };
  const guarded = <T>(work: (engine: ReadingEngine) => T): T => {
    if (isClosed) throw new Error("the database is closed");
    try {
      return work((current ??= openEngine()).engine);
    } catch (thrown) {
      const error = meaningOf(thrown);
      if (isDamage(error)) {
        closeCurrent();
        onDamage(error);
      } else if (faultIn(error) !== undefined) {
        closeCurrent();
        onFault(error);
      }
      throw error;
    }
  };
  const engine: ReadingEngine = {
    all: (text, parameters) => guarded((opened) => opened.all(text, parameters)),
    arrays: (text, parameters) => guarded((opened) => opened.arrays(text, parameters)),
    execute: (text, parameters) => guarded((opened) => opened.execute(text, parameters)),
    version: () => guarded((opened) => opened.version()),
    versionAlone: () => guarded((opened) => opened.versionAlone()),
    commits: () => guarded((opened) => opened.commits()),
    holds: (since, keys) => guarded((opened) => opened.holds(since, keys)),
  };
  const close = (): void => {
    isClosed = true;
    closeCurrent();
  };
  return databaseOf({ exec: (text) => void engine.execute(text, []), close }, engine);
}

function databaseOf(connection: Pick<DatabaseSync, "exec" | "close">, engine: Engine): Database {
  const db = new Kysely<Tables>({ dialect: sqliteDialect(connection, engine) });
  setEmbedded(db, engine);
  // The query builder closes only connections that it has used.
  void db.getExecutor().provideConnection(async () => {});
  return db;
}

/** Runs statements on the connection, including those without a result. */
interface Engine extends Embedded {
  execute(
    text: string,
    parameters: readonly Bindable[],
  ): { rows: unknown[]; changes?: bigint; lastInsertRowid?: bigint };
}

type ReadingEngine = Engine & Required<Pick<Embedded, "version" | "versionAlone" | "commits" | "holds">>;

interface Prepared {
  statement: StatementSync;
  answers: boolean;
  tables: ReadonlySet<string> | undefined;
}

/** Calls `after` with the tables that a statement may have changed; undefined when they are not known. */
function engineOf(
  database: DatabaseSync,
  before: () => void,
  after: (tables: ReadonlySet<string> | undefined) => void = () => {},
): Engine {
  const objects = preparer(database, false);
  const arrays = preparer(database, true);
  const rowsOf = ({ statement, tables }: Prepared, parameters: readonly Bindable[]): unknown[] => {
    const rows = statement.all(...parameters);
    after(tables);
    return rows;
  };
  return {
    all(text, parameters) {
      before();
      return rowsOf(objects(text), parameters);
    },
    arrays(text, parameters) {
      before();
      return rowsOf(arrays(text), parameters) as unknown[][];
    },
    execute(text, parameters) {
      before();
      const prepared = objects(text);
      if (prepared.answers) return { rows: rowsOf(prepared, parameters) };
      const { changes, lastInsertRowid } = prepared.statement.run(...parameters);
      after(prepared.tables);
      return { rows: [], changes: BigInt(changes), lastInsertRowid: BigInt(lastInsertRowid) };
    },
  };
}

// What SQLite reports is a number of the connection, which begins again when a connection is opened anew.
let statesSeen = 0;

function readingEngine(database: DatabaseSync): ReadingEngine {
  const opened = snapshots(database);
  const numberOf = (pragma: string): (() => number) => {
    const statement = database.prepare(`pragma ${pragma}`);
    statement.setReturnArrays(true);
    // The type of `get` lacks rows as arrays, which take half the time.
    return () => (statement.get() as unknown as [number])[0];
  };
  // The last seen commit of other connections, and the count of their relevant commits. The count can only have changed
  // when the former has.
  const [selectCommit, selectCount] = [numberOf("data_version"), numberOf("application_id")];
  let commit: number | undefined;
  let count = 0;
  let state = 0;
  let version: number | undefined;
  const before = (): void => {
    if (opened()) version = undefined;
  };
  const versionAlone = (): number => {
    const newest = selectCommit();
    if (newest !== commit) [count, commit, state] = [selectCount(), newest, (statesSeen += 1)];
    return count;
  };
  const arrays = preparer(database, true);
  const seen = seenChanges(
    versionAlone(),
    (...commits) => arrays(SELECT_KEYS).statement.all(...commits) as unknown as [number, string][],
  );
  return {
    ...engineOf(database, before),
    holds: (since, keys) => seen.holds(versionAlone(), since, keys),
    version() {
      before();
      return (version ??= versionAlone());
    },
    versionAlone,
    commits() {
      versionAlone();
      return state;
    },
  };
}

function preparer(database: DatabaseSync, asArrays: boolean): (text: string) => Prepared {
  const statements = new Map<string, Prepared>();
  return (text) => {
    const known = statements.get(text);
    if (known) return known;
    const statement = database.prepare(text);
    if (asArrays) statement.setReturnArrays(true);
    // Reading a statement's columns costs as much as a point read, so it is done once.
    const prepared = { statement, answers: statement.columns().length > 0, tables: changedTables(text) };
    if (statements.size >= MAX_STATEMENTS) statements.delete(statements.keys().next().value ?? "");
    statements.set(text, prepared);
    return prepared;
  };
}

function sqliteDialect(database: Pick<DatabaseSync, "exec" | "close">, engine: Engine): Dialect {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const { rows, changes, lastInsertRowid } = engine.execute(sql, parameters.map(bindable));
      return {
        rows: rows as R[],
        ...(changes !== undefined && { numAffectedRows: changes }),
        ...(lastInsertRowid !== undefined && { insertId: lastInsertRowid }),
      };
    },
    // eslint-disable-next-line require-yield -- Kysely asks for it; nothing here streams
    async *streamQuery() {
      throw new Error("streaming is not offered");
    },
  };
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: async () => {
      database.exec("begin immediate");
    },
    commitTransaction: async () => {
      database.exec("commit");
    },
    rollbackTransaction: async () => {
      database.exec("rollback");
    },
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

// node:sqlite takes an object for named parameters, and silently binds nothing.
function bindable(value: unknown): Bindable {
  if (
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "bigint" ||
    value === null ||
    value instanceof Uint8Array
  )
    return value;
  throw new TypeError(`cannot bind a value of type ${typeof value}`);
}
