import pg from "pg";
import { startPostgres, type TestPostgres } from "../packages/server/test/support/postgres.ts";
import { familyCpuUs, parentOf, pin, SERVER_CORE } from "./processes.ts";
import { POSTGRES, type SeedPlan, seedStatements } from "./seed-sql.ts";

/** A PostgreSQL with durable commits, on the servers' core. */
export interface Postgres {
  version: string;
  /** The URL of a database, which is created if it is missing. */
  database(name: string): Promise<string>;
  seed(url: string, plan: SeedPlan): Promise<void>;
  cpuUs(): number | undefined;
  close(): Promise<void>;
}

const STATEMENT_TIMEOUT_MS = 300_000;
// The default settings, except memory, whose defaults are for much smaller machines, and the log, which is off for
// every server.
const SETTINGS = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "512MB",
  max_wal_size: "4GB",
  maintenance_work_mem: "512MB",
};

export async function openPostgres(): Promise<Postgres> {
  const server: TestPostgres = await startPostgres(SETTINGS);
  try {
    // The process of a connection is a child of the postmaster.
    const [version, postmaster] = await withClient(server.url, async (client): Promise<[string, number]> => {
      const { rows } = await client.query<{ pid: number; version: string }>(
        "select pg_backend_pid() as pid, current_setting('server_version') as version",
      );
      const [row] = rows;
      return [row?.version ?? "", parentOf(row?.pid ?? 0)];
    });
    pin(SERVER_CORE, postmaster);
    return {
      version,
      async database(name) {
        await withClient(server.url, async (client) => {
          const { rowCount } = await client.query("select 1 from pg_database where datname = $1", [name]);
          if (rowCount === 0) await client.query(`create database ${name}`);
        });
        const url = new URL(server.url);
        url.pathname = `/${name}`;
        return url.href;
      },
      seed: (url, plan) => withClient(url, (client) => seedDatabase(client, plan)),
      cpuUs: () => familyCpuUs(postmaster),
      close: () => server.close(),
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

// Indexes are created after all rows: that takes a third of the time.
async function seedDatabase(client: pg.Client, plan: SeedPlan): Promise<void> {
  await client.query("set synchronous_commit = off");
  const { rows: indexes } = await client.query<{ indexname: string; indexdef: string }>(
    `select indexname, indexdef from pg_indexes
      where tablename in ('repos', 'tags', 'tag_history', 'packages', 'image_packages', 'package_keys', 'package_findings', 'artifacts', 'artifact_words', 'artifact_versions')
        and schemaname = 'public' and indexname not like '%\\_pkey'`,
  );
  await client.query("begin");
  for (const { indexname } of indexes) await client.query(`drop index ${indexname}`);
  for (const statement of seedStatements(plan, POSTGRES)) await client.query(statement);
  for (const { indexdef } of indexes) await client.query(indexdef);
  await client.query("commit");
  await client.query("vacuum analyze");
  await client.query("checkpoint");
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    query_timeout: STATEMENT_TIMEOUT_MS,
  });
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
