// What `moorage doctor` says of a PostgreSQL that cannot be used, or not by all alike.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, before, test } from "node:test";
import pg from "pg";
import { startPostgres, type TestPostgres } from "../../server/test/support/postgres.ts";
import { moorage, temporaryFolder } from "./commands.ts";
import { doctor } from "./doctor.ts";

let postgres: TestPostgres;

before(async () => {
  // The superuser comes in without a password, others with theirs.
  const rules = "host all postgres 127.0.0.1/32 trust\nhost all app 127.0.0.1/32 scram-sha-256\n";
  postgres = await startPostgres({}, { "pg_hba.conf": rules });
});
after(() => postgres.close());

async function asAdmin(text: string, values: unknown[] = [], database = "postgres"): Promise<void> {
  const client = new pg.Client(postgres.url.replace(/\/postgres$/, `/${database}`));
  await client.connect();
  try {
    await client.query(text, values);
  } finally {
    await client.end();
  }
}

test("a database that cannot be reached or used is named with host, port, database, user and cause", async (t) => {
  const cwd = temporaryFolder(t);
  await asAdmin("create role app login password 'right'");
  const at = `127\\.0\\.0\\.1:${postgres.port}`;
  const place = (user: string, database = "postgres"): string => `${at} \\(database ${database}, user ${user}\\)`;
  const url = (user: string, path = "postgres"): string => `postgres://${user}@127.0.0.1:${postgres.port}/${path}`;
  const tls = { MOORAGE_DATABASE_TLS: "verify-full" };
  for (const [what, databaseUrl, words, more] of [
    ["a wrong password", url("app:geheim"), `${place("app")}: .*the user or the password is wrong`, {}],
    ["no such user", url("nobody"), `${place("nobody")}: .*pg_hba\\.conf does not let this user in from here`, {}],
    ["no such database", url("postgres", "none"), `${place("postgres", "none")}: .*there is no such database`, {}],
    ["TLS that it lacks", url("postgres"), `${place("postgres")}: .*MOORAGE_DATABASE_TLS=disable`, tls],
  ] as const) {
    const found = await doctor(["--port", "1"], { cwd, env: { MOORAGE_DATABASE_URL: databaseUrl, ...more } });
    assert.equal(found.code, 1, what);
    assert.equal(found.states("database"), "failed", what);
    assert.match(found.of("database")[0]?.message ?? "", new RegExp(words), what);
    assert.match(found.of("database")[0]?.fix ?? "", /MOORAGE_DATABASE_URL/, what);
    assert.doesNotMatch(found.stdout, /geheim/, what);
  }
});

test("an empty database, another schema, and replicas of several versions are found; nothing is changed", async (t) => {
  const cwd = temporaryFolder(t);
  await asAdmin("create database doctored");
  const env = { MOORAGE_DATABASE_URL: `postgres://postgres@127.0.0.1:${postgres.port}/doctored` };
  const look = () => doctor(["--port", "1"], { cwd, env });
  const empty = await look();
  assert.match(empty.of("database")[0]?.message ?? "", /database doctored, user postgres\): empty$/);
  assert.equal(empty.states("database"), "warning");
  assert.equal(empty.states("replicas"), "not_checked", "without a schema no process can be listed");

  const migrated = await moorage(["migrate"], { cwd, env });
  assert.equal(migrated.code, 0, migrated.stderr);
  const alone = await look();
  assert.equal(alone.states("database"), "ok", alone.stdout);
  assert.match(alone.of("replicas")[0]?.message ?? "", /^no process serves/);
  assert.match(alone.of("clock")[0]?.message ?? "", /^the database: within 5 s/);

  const add = "insert into processes (id, version, schema, until_time) select $1, $2, version, $3 from schema_version";
  const soonMs = Date.now() + 600_000;
  await asAdmin(add, ["one", "0.1.0", soonMs], "doctored");
  await asAdmin(add, ["two", "0.1.0", soonMs], "doctored");
  await asAdmin(add, ["gone", "0.0.9", Date.now() - 600_000], "doctored");
  assert.match((await look()).of("replicas")[0]?.message ?? "", /^2, all of version 0\.1\.0/);
  await asAdmin(add, ["three", "0.2.0", soonMs], "doctored");
  const several = await look();
  assert.equal(several.states("replicas"), "warning");
  assert.match(several.of("replicas")[0]?.message ?? "", /^3 of several versions: 0\.1\.0 \(.*\), 0\.2\.0 /);

  await asAdmin("update schema_version set version = version + 1", [], "doctored");
  const newer = await look();
  assert.equal(newer.code, 1);
  assert.match(newer.of("database")[0]?.fix ?? "", /the newer moorage that migrated it/);
  assert.equal(newer.states("replicas"), "not_checked");
});

test("a database that has stopped is not reached, and one that is silent is given up in time", async (t) => {
  const cwd = temporaryFolder(t);
  const env = { MOORAGE_DATABASE_URL: `postgres://postgres@127.0.0.1:${postgres.port}/postgres` };
  await postgres.stopServer("SIGINT");
  const stopped = await doctor(["--port", "1"], { cwd, env });
  assert.equal(stopped.states("database"), "failed");
  assert.match(stopped.of("database")[0]?.message ?? "", /user postgres\): .*nothing listens at this port/);
  await postgres.startServer();

  const silent = createServer().listen(0, "127.0.0.1");
  t.after(() => silent.close());
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const quiet = { MOORAGE_DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/postgres` };
  const found = await doctor(["--port", "1"], { cwd, env: quiet });
  assert.equal(found.states("database"), "failed");
  assert.match(
    found.of("database")[0]?.message ?? "",
    new RegExp(`127\\.0\\.0\\.1:${port} .*is silent or is not PostgreSQL`),
  );
});
