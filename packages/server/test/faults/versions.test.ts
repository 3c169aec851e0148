import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { ENGINE } from "../support/database.ts";
import { newDataDir, startDiskServer } from "../support/disk-server.ts";
import { makeNewerProgram } from "../support/newer-program.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";

// A rolling update: a build of today, and beside it one with another migration. It has its own PostgreSQL and runs
// once, in the run on SQLite.
const OPTIONS = {
  timeout: 300_000,
  skip: ENGINE === "sqlite" ? false : "was run with SQLite: it has its own PostgreSQL",
};

let postgres: TestPostgres;
before(async () => {
  if (OPTIONS.skip === false) postgres = await startPostgres();
});
after(() => postgres?.close());

test(
  "in a rolling update the old process reads on, writes nothing and is not ready; nobody collects until it is gone",
  OPTIONS,
  async (t) => {
    const env = {
      MOORAGE_DATABASE_URL: postgres.url,
      MOORAGE_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"),
      MOORAGE_GC_INTERVAL: "1s",
      MOORAGE_LOG_LEVEL: "info",
    };
    const older = await startDiskServer(t, newDataDir(t), env);
    assert.equal((await older.write("before")).status, 200);
    await older.logged(({ msg }) => msg === "garbage collected");
    const newer = await startDiskServer(t, newDataDir(t), env, undefined, makeNewerProgram(t).serverProcess);
    assert.equal((await newer.write("by-the-newer")).status, 200);
    const refused = await older.write("by-the-older");
    assert.equal(refused.status, 503, refused.text);
    assert.match(refused.text, /newer moorage/);
    assert.ok(Number(refused.retryAfter) > 0);
    const groups = await older.ask("GET", "/iam/v2/groups?page_size=200");
    assert.equal(groups.status, 200);
    assert.match(groups.text, /by-the-newer/);
    assert.match((await older.until(older.ready, ({ status }) => status === 503)).text, /newer moorage/);
    assert.equal((await newer.ready()).status, 200);
    assert.equal((await older.healthy()).status, 200);
    await newer.logged(({ msg }) => msg.startsWith("nothing is collected while a process of moorage"));
    assert.ok(!newer.lines.some(({ msg }) => msg === "garbage collected"));
    assert.equal(await older.stop(), 0);
    await endLease("gc");
    // The row of the older one, which may not even take leave, is believed for half a minute.
    await newer.logged(({ msg }) => msg === "garbage collected");
    assert.ok(
      newer.lines.every(({ level }) => level < 50),
      "the newer one has no errors",
    );
  },
);

/** Ends the lease of a job, which a run that the update interrupted keeps for five minutes. */
async function endLease(work: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query("update job_leases set hold_until = 0 where work = $1", [work]);
  } finally {
    await client.end();
  }
}
