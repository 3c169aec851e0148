import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { ENGINE } from "../support/database.ts";
import { type DiskServer, newDataDir, startDiskServer } from "../support/disk-server.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { eventually } from "../support/eventually.ts";

// A server whose memory for locks is small, other sessions that use it up, and a failover to a standby. These tests
// have their own PostgreSQL; they run once, in the run on SQLite.
const OPTIONS = {
  timeout: 300_000,
  skip: ENGINE === "sqlite" ? false : "was run with SQLite: it has its own PostgreSQL",
};
const SECRET_KEY = Buffer.alloc(32, 3).toString("base64");

let postgres: TestPostgres;
let databases = 0;
before(async () => {
  if (OPTIONS.skip === false)
    postgres = await startPostgres({ max_connections: "30", max_pred_locks_per_transaction: "10" });
});
after(() => postgres?.close());

async function session(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: "forgotten" });
  client.on("error", () => {});
  await client.connect();
  t.after(() => client.end());
  return client;
}

async function newDatabase(t: TestContext): Promise<string> {
  const name = `shortage_${(databases += 1)}`;
  await (await session(t, postgres.url)).query(`create database ${name}`);
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  return url.href;
}

function startOn(t: TestContext, url: string, more: Record<string, string> = {}): Promise<DiskServer> {
  return startDiskServer(t, newDataDir(t), {
    MOORAGE_DATABASE_URL: url,
    MOORAGE_SECRET_KEY: SECRET_KEY,
    ...more,
  });
}

let made = 0;
/** Writes beside each other until one is answered as wanted. */
async function writeUntil(server: DiskServer, isWanted: (status: number) => boolean) {
  for (;;) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => server.write(`group-${(made += 1)}`)));
    const found = answers.find(({ status }) => isWanted(status));
    if (found !== undefined) return { found, answers };
  }
}

test(
  "a session that somebody forgot uses up the memory for locks: writes are UNAVAILABLE, and it is said why",
  OPTIONS,
  async (t) => {
    const url = await newDatabase(t);
    const server = await startOn(t, url, { MOORAGE_DATABASE_TIMEOUT: "1s" });
    assert.equal((await server.write("before")).status, 200);
    const forgotten = await session(t, url);
    await forgotten.query("begin isolation level serializable; select count(*) from installation");
    const { found, answers } = await writeUntil(server, (status) => status !== 200);
    assert.equal(found.status, 503, found.text);
    assert.match(found.text, /out of memory for locks/);
    assert.ok(Number(found.retryAfter) > 0);
    assert.deepEqual(
      answers.filter(({ status }) => status !== 200 && status !== 503),
      [],
      "storage is not full",
    );
    assert.equal((await server.ask("GET", "/iam/v2/groups")).status, 200, "reads go on");
    const shown = await server.ready();
    assert.deepEqual([shown.status, shown.text], [200, "ready, but the database is out of memory for locks"]);
    await server.logged(({ msg, level }) => msg === "the database is out of memory for locks" && level >= 50);
    await server.logged(({ msg, err }) => {
      const { message = "" } = (err ?? {}) as { message?: string };
      return msg === "the oldest transaction of the database server" && message.includes("forgotten");
    });
    const counted = await server.metric('moorage_storage_faults_total{part="database",reason="lock_memory"}');
    assert.ok(counted !== undefined && counted > 0);
    const lines = server.lines.filter(({ msg }) => msg === "the database is out of memory for locks");
    assert.ok(lines.length < 3, "not a line for each");
    await forgotten.query("rollback");
    await writeUntil(server, (status) => status === 200);
  },
);

test("a replica that is frozen in a transaction does not keep the others from writing", OPTIONS, async (t) => {
  const url = await newDatabase(t);
  const [frozen, healthy] = [await startOn(t, url), await startOn(t, url)];
  const watcher = await session(t, url);
  const sessionsOf = async (state: string): Promise<number> => {
    const { rowCount } = await watcher.query(
      "select 1 from pg_stat_activity where application_name = 'moorage' and datname = current_database() and state = $1",
      [state],
    );
    return rowCount ?? 0;
  };
  let over = false;
  t.after(() => void (over = true));
  const load = Promise.all(
    Array.from({ length: 6 }, async () => {
      while (!over) await frozen.write(`frozen-${(made += 1)}`).catch(() => {});
    }),
  );
  // Stopped at any moment: again, until the moment was one within a transaction.
  for (;;) {
    process.kill(frozen.pid, "SIGSTOP");
    // What was sent before is worked on first.
    await eventually(async () => (await sessionsOf("active")) <= 1);
    if ((await sessionsOf("idle in transaction")) > 0) break;
    process.kill(frozen.pid, "SIGCONT");
    await wait(10 + Math.random() * 20);
  }
  const statuses = new Map<number, number>();
  let done = 0;
  while ((await sessionsOf("idle in transaction")) > 0 || done < 40) {
    for (const { status } of await Promise.all(
      Array.from({ length: 4 }, () => healthy.write(`healthy-${(made += 1)}`)),
    ))
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    done += 4;
  }
  assert.deepEqual([...statuses.keys()], [200], "every write beside the frozen one was done");
  t.diagnostic(`${done} writes until its transaction was ended`);
  process.kill(frozen.pid, "SIGCONT");
  over = true;
  await load;
  await writeUntil(frozen, (status) => status === 200);
});

test("after a failover to a standby reads go on, writes are UNAVAILABLE until it takes them", OPTIONS, async (t) => {
  const url = await newDatabase(t);
  const server = await startOn(t, url, { MOORAGE_DATABASE_TIMEOUT: "1s" });
  assert.equal((await server.write("before")).status, 200);
  await postgres.stopServer("SIGINT");
  postgres.setStandby(true);
  await postgres.startServer();
  const refused = await server.until(
    () => server.write(`during-${(made += 1)}`),
    ({ text }) => text.includes("read-only"),
  );
  assert.equal(refused.status, 503, refused.text);
  assert.ok(Number(refused.retryAfter) > 0);
  assert.equal((await server.ask("GET", "/iam/v2/groups")).status, 200, "reads go on");
  assert.match((await server.until(server.ready, ({ status }) => status === 503)).text, /the database is read-only/);
  await postgres.stopServer("SIGINT");
  postgres.setStandby(false);
  await postgres.startServer();
  await server.until(
    () => server.write(`after-${(made += 1)}`),
    ({ status }) => status === 200,
  );
  await server.until(server.ready, ({ status, text }) => status === 200 && text === "ready");
});
