import { readFileSync } from "node:fs";
import { Kysely } from "kysely";
import type { CustomTypesConfig, Pool, PoolConfig } from "pg";
import { faultIn } from "../lib/storage-fault.ts";
import { meaningOf, retried } from "./failures.ts";
import { setPending } from "./change-keys.ts";
import {
  createChangeLog,
  DECLARES_CHANGES,
  NOTE_HAND_MADE_CHANGES,
  oldChangesRemover,
  setChangeLog,
} from "./change-log.ts";
import { createGate } from "./collision-gate.ts";
import { MIGRATIONS, NEWEST_VERSION } from "./migrations.ts";
import { type PipelinedConnection, postgresDialect, statementTexts } from "./postgres-dialect.ts";
import { locatedError, noteLocation } from "./postgres-place.ts";
import { oldestTransactionLog } from "./oldest-transaction.ts";
import { createReads, setReads } from "./read-together.ts";
import { type Database, type Store, StoreError, type StoreSettings, type TransactOptions } from "./store.ts";
import type { Tables } from "./tables.ts";
import { createTriggers, watchClient, watchTransaction } from "./watched-postgres.ts";
import { WATCHES_ROWS } from "./watched-rows.ts";

// How long calls wait for a server that restarts, or for others that change the same rows.
const RETRY_WINDOW_MS = 10_000;
const INT8_OID = 20;
const NUMERIC_OID = 1700;
// How long a transaction may wait for this process's next statement: well below the window of the others' retries.
const IDLE_MS = 5_000;
// After so long a session ends whose process, machine or network is gone.
const KEEPALIVE_MS = 20_000;
const SILENT_MS = 40_000;
// A scan over a whole table makes a serializable transaction collide with every change to the table, and PostgreSQL
// prefers such scans for small tables.
const PLANS = "-c enable_seqscan=off";
// How long a look for changes may take. Afterwards nothing is answered from caches, until one succeeds.
const LOOK_MS = 2_000;
const LOOKS_IDLE_MS = 600_000;
const KEEPALIVES = `-c tcp_keepalives_idle=${KEEPALIVE_MS / 1000} -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4 -c tcp_user_timeout=${SILENT_MS}`;
// Any number that nothing else locks in this database.
const MIGRATION_LOCK = "760213";

/** The store on a PostgreSQL server. Does not connect yet. */
export async function openPostgresStore(settings: StoreSettings): Promise<Store> {
  const { log = () => {}, onRetry = () => {} } = settings;
  const { databaseUrl } = settings;
  const onFault = (error: unknown): void => settings.onFault?.(noteLocation(error, databaseUrl));
  const forOperators = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => Promise.reject(asError(locatedError(error, databaseUrl))));
  const { default: pg } = await import("pg");
  const pool: Pool = new pg.Pool(poolConfig(settings, pg.types));
  // An idle connection may end: the pool removes it by itself, but without a listener the process would end.
  pool.on("error", (error: Error & { client?: unknown }) => {
    // The client is large and has the settings of the connection, which do not belong in a log.
    delete error.client;
    log(error, "an idle database connection ended");
  });
  // So does one that ends in the moment in which it was made; whoever gets it has its first statement fail.
  pool.on("connect", (client) => client.on("error", () => {}));
  if (WATCHES_ROWS) pool.on("connect", watchClient);
  const windowMs = Math.min(RETRY_WINDOW_MS, settings.databaseTimeoutMs);
  // A connection of its own, so that no look waits for long reads.
  const looks: Pool = new pg.Pool({
    ...poolConfig(settings, pg.types),
    max: 1,
    idleTimeoutMillis: LOOKS_IDLE_MS,
    connectionTimeoutMillis: LOOK_MS,
    query_timeout: LOOK_MS,
  });
  looks.on("error", () => {});
  looks.on("connect", (client) => client.on("error", () => {}));
  const changeLog = createChangeLog(looks);
  const removeOld = oldChangesRemover(pool, (error) => log(error, "old rows of change_keys could not be removed"));
  const onChange = (): void => {
    changeLog.committed();
    removeOld();
  };
  const options = { retryWindowMs: windowMs, onRetry, onFault, onChange, texts: statementTexts() };
  const logOldest = oldestTransactionLog(pool, log);
  const reader = new Kysely<Tables>({ dialect: postgresDialect(pool, options) });
  setReads(reader, createReads(pool, { ...options, connections: Math.ceil(settings.databasePoolSize / 2) }));
  setChangeLog(reader, changeLog);
  // One connection is always left for reading.
  const gate = createGate(Math.max(1, settings.databasePoolSize - 1), settings.databaseTimeoutMs);
  return {
    engine: "postgres",
    reader,
    async transact<T>(work: (tx: Database) => Promise<T>, options: TransactOptions = {}): Promise<T> {
      let again = false;
      const done = retried(
        windowMs,
        () => {
          const result = gate.run(
            () => transactOnce(reader, work, options),
            again,
            options.isolation === "read committed",
          );
          again = true;
          return result;
        },
        onRetry,
      );
      try {
        return await done;
      } catch (error) {
        if (faultIn(error)?.reason === "lock_memory") logOldest();
        throw noteLocation(error, databaseUrl);
      }
    },
    use: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    version: () => forOperators(retried(windowMs, () => readVersion(pool))),
    async migrate() {
      await forOperators(retried(windowMs, () => migratePostgres(pool)));
      if (WATCHES_ROWS) await createTriggers(pool);
    },
    async close() {
      await reader.destroy();
      await looks.end();
      // Kysely does not end a pool that it has never used.
      if (!pool.ended) await pool.end();
    },
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

async function transactOnce<T>(
  db: Kysely<Tables>,
  work: (tx: Database) => Promise<T>,
  { isolation = "serializable", durability = "durable", isDryRun = false }: TransactOptions,
): Promise<T> {
  const transaction = await db.startTransaction().setIsolationLevel(isolation).execute();
  let value: T;
  try {
    await transaction.getExecutor().provideConnection(async (connection) => {
      const pipelined = connection as PipelinedConnection;
      pipelined.isDeferred = durability === "deferred";
      const [own] = pipelined.changes;
      if (own !== undefined) setPending(transaction, own);
    });
    if (WATCHES_ROWS) await watchTransaction(transaction);
    value = await work(transaction);
  } catch (error) {
    // The error of the work comes first.
    await transaction
      .rollback()
      .execute()
      .catch(() => {});
    throw error;
  }
  try {
    await (isDryRun ? transaction.rollback() : transaction.commit()).execute();
  } catch (error) {
    // The transaction has ended on the server, but its connection is only released here.
    await transaction
      .rollback()
      .execute()
      .catch(() => {});
    throw error;
  }
  return value;
}

function poolConfig(
  { databaseUrl, databasePoolSize, databaseTimeoutMs, databaseIdleMs, databaseTls, databaseTlsCa }: StoreSettings,
  types: CustomTypesConfig,
): PoolConfig {
  const url = new URL(databaseUrl);
  url.searchParams.delete("sslmode");
  return {
    connectionString: url.href,
    max: databasePoolSize,
    application_name: "moorage",
    pipeline: true,
    options: `${PLANS} ${KEEPALIVES} -c ${DECLARES_CHANGES}=on`,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: Math.min(databaseTimeoutMs, 10_000),
    statement_timeout: databaseTimeoutMs,
    lock_timeout: databaseTimeoutMs,
    idle_in_transaction_session_timeout: databaseIdleMs ?? IDLE_MS,
    query_timeout: databaseTimeoutMs + 5_000,
    ssl:
      databaseTls === "disable"
        ? false
        : {
            rejectUnauthorized: databaseTls === "verify-full",
            ...(databaseTlsCa !== "" && { ca: readCa(databaseTlsCa) }),
          },
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8_OID || oid === NUMERIC_OID ? toNumber : types.getTypeParser(oid, format),
    },
  };
}

function readCa(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new StoreError(`MOORAGE_DATABASE_TLS_CA: cannot read ${file}`, { cause });
  }
}

function toNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError("a number in the database is too large");
  return value;
}

async function readVersion(pool: Pool): Promise<number> {
  try {
    const { rows } = await pool.query<{ there: boolean }>("select to_regclass('schema_version') is not null as there");
    if (rows[0]?.there !== true) return 0;
    const found = await pool.query<{ version: number }>("select version from schema_version");
    return found.rows[0]?.version ?? 0;
  } catch (error) {
    throw meaningOf(error);
  }
}

// One replica migrates while the others wait for the lock; then they find nothing left to do.
async function migratePostgres(pool: Pool): Promise<void> {
  const client = await pool.connect().catch((error: unknown) => {
    throw meaningOf(error);
  });
  let failed = true;
  try {
    await client.query("begin");
    await client.query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await client.query("create table if not exists schema_version (version bigint not null)");
    const { rows } = await client.query<{ version: number }>("select version from schema_version");
    const found = rows[0]?.version ?? 0;
    const newest = NEWEST_VERSION;
    if (found > newest)
      throw new StoreError(`the database is of version ${found}, newer than this moorage, which knows ${newest}`);
    // Waits for all transactions that write, and keeps others from beginning: see store/schema-fence.ts.
    if (found < newest) await client.query("lock table schema_version in access exclusive mode");
    for (const { statements } of MIGRATIONS.filter(({ version }) => version > found))
      for (const statement of statements) await client.query(forPostgres(statement));
    if (found === 0) await client.query("insert into schema_version (version) values ($1)", [newest]);
    else if (found < newest) await client.query("update schema_version set version = $1", [newest]);
    if (found < newest) await client.query(NOTE_HAND_MADE_CHANGES);
    await client.query("commit");
    failed = false;
  } catch (error) {
    throw meaningOf(error);
  } finally {
    client.release(failed);
  }
}

// Text is compared byte by byte, as in SQLite: page tokens and orders are the same on both engines.
function forPostgres(statement: string): string {
  return statement
    .replace(/\btext\b/g, 'text collate "C"')
    .replace(/\bKEY\b/g, 'text collate "C"')
    .replace(/\binstr\(/g, "strpos(")
    .replace(/\bINT8\b/g, "bigint")
    .replace(/\bBYTES\b/g, "bytea")
    .replace(/\bWITHOUT_ROWID\b/g, "")
    .replace(/\bSERIAL8\b/g, "bigserial primary key");
}
