import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import pg from "pg";
import { loadConfig, readBootstrap, signToken } from "../../src/index.ts";
import { openStore } from "../../../kernel/src/store/index.ts";
import { temporaryFolder } from "../support/installation.ts";
import { selfSigned } from "../support/certificate.ts";
import { type Client, openClient, type Reply } from "../support/api-client.ts";
import { ENGINE } from "../support/database.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { type LogLine, startProcess } from "../support/processes.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { eventually } from "../support/eventually.ts";

// The other tests share one PostgreSQL server; these tests stop it or disturb it, so they use one of their own. They
// run once, in the run on SQLite.
const OPTIONS = {
  timeout: 300_000,
  skip: ENGINE === "sqlite" ? false : "was run with SQLite: it has its own PostgreSQL",
};
const JSON_BODY = { "content-type": "application/json" };

let postgres: TestPostgres;
let databases = 0;
before(async () => {
  if (OPTIONS.skip === false) postgres = await startPostgres({ max_connections: "40", synchronous_commit: "on" });
});
after(() => postgres?.close());

interface House {
  client: Client;
  proxy: FaultProxy;
  url: URL;
  organization: string;
  token: string;
  pid: number;
  /** What the server has logged so far. */
  lines: readonly LogLine[];
  create(name: string): Promise<Reply>;
  count(): Promise<{ names: string[]; total: number }>;
}

/** A server that reaches its database through a proxy. */
async function startHouse(t: TestContext, more: Record<string, string> = {}): Promise<House> {
  const dataDir = temporaryFolder(t);
  const name = `faults_${(databases += 1)}`;
  await asAdmin((client) => client.query(`create database ${name}`));
  const proxy = await startFaultProxy([postgres.port]);
  t.after(() => proxy.close());
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  const through = new URL(url);
  through.port = String(proxy.port);
  const env = {
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_LOG_LEVEL: "warn",
    MOORAGE_DATABASE_URL: through.href,
    MOORAGE_DATABASE_POOL_SIZE: "6",
    ...more,
  };
  const server = await startProcess(t, env);
  const { token } = await signToken({
    config: loadConfig({ ...env, MOORAGE_DATABASE_URL: url.href }),
    audience: "platform",
    ttlMs: 3_600_000,
  });
  const client = openClient(server.url);
  t.after(() => client.close());
  const organization = readBootstrap(dataDir).organization.uid;
  const create = (repo: string): Promise<Reply> =>
    client.once("POST", `/registry/v2/repos/${organization}`, {
      token,
      headers: JSON_BODY,
      body: JSON.stringify({ name: repo }),
    });
  return {
    client,
    proxy,
    url,
    organization,
    token,
    pid: server.pid,
    lines: server.lines,
    create,
    async count() {
      const names: string[] = [];
      let total = 0;
      for (let page = ""; ;) {
        const reply = await client.ask(
          "GET",
          `/registry/v2/repos?uidp.descendants_of=${organization}&page_size=200&page_token=${encodeURIComponent(page)}`,
          { token },
        );
        const list = JSON.parse(reply.body.toString()) as {
          repos: { name: string }[];
          totalCount: string;
          nextPageToken: string;
        };
        names.push(...list.repos.map((repo) => repo.name));
        total = Number(list.totalCount);
        if (!(page = list.nextPageToken)) return { names: names.toSorted(), total };
      }
    },
  };
}

async function asAdmin<T>(work: (client: pg.Client) => Promise<T>, url = postgres.url): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, statement_timeout: 30_000 });
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Creates repos with eight concurrent callers until `stop` is called, each name once. Returns the names by the status
 * of their answer.
 */
function creating({ create }: House): { stop(): Promise<Map<number, string[]>>; done(): number } {
  const answers = new Map<number, string[]>();
  let stopped = false;
  let count = 0;
  const callers = Promise.all(
    Array.from({ length: 8 }, async (_, caller) => {
      for (let at = 0; !stopped; at++) {
        const name = `made-${caller}-${at}`;
        const { status } = await create(name);
        answers.set(status, [...(answers.get(status) ?? []), name]);
        if (status === 200) count += 1;
      }
    }),
  );
  callers.catch(() => {});
  return {
    done: () => count,
    async stop() {
      stopped = true;
      await callers;
      return answers;
    },
  };
}

/**
 * Asserts that each name answered with 200 exists once, that refused names do not exist, and that the total is right;
 * after a 503 both are possible.
 */
async function checkExact(house: House, answers: Map<number, string[]>): Promise<void> {
  const { names, total } = await house.count();
  assert.equal(total, names.length);
  assert.equal(new Set(names).size, names.length);
  const there = new Set(names);
  assert.deepEqual(
    (answers.get(200) ?? []).filter((name) => !there.has(name)),
    [],
  );
  const open = new Set([...(answers.get(200) ?? []), ...(answers.get(503) ?? [])]);
  assert.deepEqual(
    names.filter((name) => !open.has(name)),
    [],
  );
}

/** Creates the repo, however long the machine takes: the time-out of the database is short in these tests. */
async function created(house: House, name: string): Promise<void> {
  // After an answer that says that the outcome is not known, it may be there.
  await eventually(async () => [200, 409].includes((await house.create(name)).status));
}

test("a restart of PostgreSQL under load: calls wait for it and succeed", OPTIONS, async (t) => {
  const house = await startHouse(t);
  const load = creating(house);
  await eventually(() => load.done() > 50);
  for (const signal of ["SIGINT", "SIGQUIT"] as const) {
    const before = load.done();
    await postgres.restart(signal);
    await eventually(() => load.done() > before + 50);
  }
  const answers = await load.stop();
  assert.deepEqual(
    [...answers.keys()].filter((status) => status !== 200 && status !== 503),
    [],
  );
  // Only for a commit whose answer was lost the client gets an error: each caller had at most one under way, each time.
  assert.ok((answers.get(503)?.length ?? 0) <= 16, `${answers.get(503)?.length} were not waited for`);
  t.diagnostic(`${answers.get(200)?.length} done, ${answers.get(503)?.length ?? 0} left open`);
  await checkExact(house, answers);
});

test(
  "while PostgreSQL is stopped: 503 with Retry-After in bounded time, the process stays up, and works when it is back",
  OPTIONS,
  async (t) => {
    const house = await startHouse(t, { MOORAGE_DATABASE_TIMEOUT: "1s" });
    await created(house, "before");
    await postgres.stopServer("SIGINT");
    try {
      const replies = await Promise.all([
        ...Array.from({ length: 20 }, (_, at) => house.create(`lost-${at}`)),
        ...Array.from({ length: 20 }, () => house.client.once("GET", "/registry/v2/repos", { token: house.token })),
      ]);
      for (const { status, headers, body } of replies) {
        assert.equal(status, 503, body.toString());
        assert.ok(Number(headers["retry-after"]) >= 1);
        assert.match(body.toString(), /database cannot be reached|too busy/);
      }
      assert.equal((await house.client.once("GET", "/healthz")).status < 600, true);
    } finally {
      await postgres.startServer();
    }
    await eventually(async () => (await house.create(`after-${Math.random().toString(36).slice(2)}`)).status === 200);
    const { names } = await house.count();
    assert.ok(names.includes("before") && !names.some((name) => name.startsWith("lost")));
  },
);

test("terminated backends under load cause no errors, except for commits under way", OPTIONS, async (t) => {
  const house = await startHouse(t);
  const load = creating(house);
  const rounds = 5;
  for (let round = 0; round < rounds; round++) {
    const before = load.done();
    await eventually(() => load.done() > before + 20);
    const ended = await asAdmin((client) =>
      client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [
        house.url.pathname.slice(1),
      ]),
    );
    assert.ok((ended.rowCount ?? 0) > 0);
  }
  const answers = await load.stop();
  assert.deepEqual(
    [...answers.keys()].filter((status) => status !== 200 && status !== 503),
    [],
  );
  assert.ok((answers.get(503)?.length ?? 0) <= 8 * rounds);
  t.diagnostic(`${answers.get(200)?.length} done, ${answers.get(503)?.length ?? 0} left open`);
  await checkExact(house, answers);
  // Idle ones are written down in short lines, without the driver's objects.
  const idle = await eventually(() => {
    const found = house.lines.filter(({ msg }) => msg === "an idle database connection ended");
    return found.length > 0 && found;
  });
  for (const line of idle) assert.ok(JSON.stringify(line).length < 3_000, JSON.stringify(line));
});

test("connections cut under load, or while idle, are replaced", OPTIONS, async (t) => {
  const house = await startHouse(t);
  const load = creating(house);
  for (let round = 0; round < 5; round++) {
    const before = load.done();
    await eventually(() => load.done() > before + 20);
    house.proxy.cut();
  }
  const answers = await load.stop();
  assert.deepEqual(
    [...answers.keys()].filter((status) => status !== 200 && status !== 503),
    [],
  );
  await checkExact(house, answers);
  house.proxy.cut();
  assert.equal(
    (await house.client.once("GET", "/registry/v2/repos", { token: house.token })).status,
    200,
    "an idle connection that has gone is replaced",
  );
});

test(
  "a network that drops everything: 503 in bounded time, and requests succeed when it is over",
  OPTIONS,
  async (t) => {
    const house = await startHouse(t, { MOORAGE_DATABASE_TIMEOUT: "1s" });
    await created(house, "before");
    house.proxy.drop(true);
    const replies = await Promise.all([
      ...Array.from({ length: 12 }, (_, at) => house.create(`lost-${at}`)),
      ...Array.from({ length: 12 }, () => house.client.once("GET", "/registry/v2/repos", { token: house.token })),
    ]);
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [503]);
    house.proxy.drop(false);
    await eventually(async () => (await house.create(`after-${Math.random().toString(36).slice(2)}`)).status === 200);
    assert.equal((await house.count()).names.filter((name) => name === "before").length, 1);
  },
);

test("a commit whose answer is lost is UNAVAILABLE, and not done twice", OPTIONS, async (t) => {
  const house = await startHouse(t);
  // The commit waits on the server: a deferred trigger sleeps in it. Then the connection is cut, and its outcome is
  // unknown.
  await asAdmin(async (client) => {
    await client.query(
      "create function slow() returns trigger language plpgsql as $$ begin if new.name = 'unknown' then perform pg_sleep(2); end if; return null; end $$",
    );
    await client.query(
      "create constraint trigger slow after insert on repos deferrable initially deferred for each row execute function slow()",
    );
  }, house.url.href);
  const asked = house.create("unknown");
  await eventually(() =>
    asAdmin(
      async (client) =>
        ((
          await client.query(
            "select 1 from pg_stat_activity where datname = $1 and query = 'commit' and state = 'active'",
            [house.url.pathname.slice(1)],
          )
        ).rowCount ?? 0) > 0,
    ),
  );
  house.proxy.cut();
  const { status, body, headers } = await asked;
  assert.equal(status, 503);
  assert.match(body.toString(), /not known whether/);
  assert.ok(Number(headers["retry-after"]) >= 1);
  await eventually(() =>
    asAdmin(
      async (client) =>
        (
          await client.query(
            "select 1 from pg_stat_activity where datname = $1 and query = 'commit' and state = 'active'",
            [house.url.pathname.slice(1)],
          )
        ).rowCount === 0,
    ),
  );
  const again = await house.create("unknown");
  const { names, total } = await house.count();
  assert.deepEqual([names.filter((name) => name === "unknown").length, total], [1, names.length]);
  assert.ok([200, 409].includes(again.status));
});

test("concurrent writes of the same row all succeed, one after the other", OPTIONS, async (t) => {
  const house = await startHouse(t);
  const { uid } = JSON.parse((await house.create("contended")).body.toString()) as { uid: string };
  const digests = Array.from({ length: 96 }, (_, at) => `sha256:${at.toString(16).padStart(64, "0")}`);
  const left = [...digests];
  const statuses: number[] = [];
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      for (let digest = left.pop(); digest !== undefined; digest = left.pop()) {
        const body = JSON.stringify({ name: "hot", digest });
        statuses.push(
          (
            await house.client.once("POST", `/registry/v2/tags/${uid}`, {
              token: house.token,
              headers: JSON_BODY,
              body,
            })
          ).status,
        );
      }
    }),
  );
  assert.deepEqual([...new Set(statuses)], [200]);
  const rows = await asAdmin(
    (client) =>
      client.query<{ time: string; digest: string }>(
        "select time, digest from tag_history where repo = $1 order by time",
        [uid],
      ),
    house.url.href,
  );
  assert.deepEqual(rows.rows.map(({ digest }) => digest).toSorted(), digests, "each once");
  assert.equal(new Set(rows.rows.map(({ time }) => time)).size, digests.length);
});

test(
  "when the server has no connection left, or a statement takes too long, the answer is 503, and the process stays up",
  OPTIONS,
  async (t) => {
    const house = await startHouse(t, { MOORAGE_DATABASE_TIMEOUT: "1s" });
    const database = house.url.pathname.slice(1);
    const hogs: (pg.Client | undefined)[] = [];
    const made = ["roomy", "unlocked"];
    await asAdmin(async (client) => {
      // The server asks for events all the time, and may get a connection again before the others have them all.
      for (let attempt = 0, isCrowded = false; !isCrowded; attempt += 1) {
        await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [database]);
        hogs.push(
          ...(await Promise.all(
            Array.from({ length: attempt === 0 ? 40 : 5 }, async () => {
              const hog = new pg.Client({ connectionString: postgres.url, connectionTimeoutMillis: 30_000 });
              hog.on("error", () => {});
              return await hog.connect().then(
                () => hog,
                () => undefined,
              );
            }),
          )),
        );
        const { status } = await house.create(`crowded-${attempt}`);
        isCrowded = status === 503;
        if (status === 200) made.push(`crowded-${attempt}`);
      }
    });
    await Promise.all(hogs.map((hog) => hog?.end()));
    await created(house, "roomy");

    const locker = new pg.Client({ connectionString: house.url.href });
    await locker.connect();
    await locker.query("begin; lock table repos in access exclusive mode");
    assert.equal((await house.create("locked")).status, 503);
    assert.equal((await house.client.once("GET", "/registry/v2/repos", { token: house.token })).status, 503);
    await locker.end();
    await created(house, "unlocked");
    assert.deepEqual((await house.count()).names, made.toSorted());
  },
);

test(
  "TLS to PostgreSQL can be required and verified, and another server's certificate is refused",
  OPTIONS,
  async (t) => {
    const folder = temporaryFolder(t);
    const [own, other] = [selfSigned(), selfSigned()];
    const write = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content, { mode: 0o600 });
      return join(folder, name);
    };
    const [ca, wrongCa] = [write("ca.pem", own.cert), write("other.pem", other.cert)];
    const secured = await startPostgres({ ssl: "on" }, { "server.crt": own.cert, "server.key": own.key });
    t.after(() => secured.close());
    const versionWith = async (settings: Record<string, string>, url = secured.url): Promise<number> => {
      const store = await openStore(loadConfig({ MOORAGE_DATABASE_URL: url, ...settings }));
      try {
        return await store.version();
      } finally {
        await store.close();
      }
    };
    assert.equal(await versionWith({ MOORAGE_DATABASE_TLS: "require" }), 0);
    assert.equal(await versionWith({ MOORAGE_DATABASE_TLS: "verify-full", MOORAGE_DATABASE_TLS_CA: ca }), 0);
    await assert.rejects(versionWith({ MOORAGE_DATABASE_TLS: "verify-full", MOORAGE_DATABASE_TLS_CA: wrongCa }));
    await assert.rejects(versionWith({ MOORAGE_DATABASE_TLS: "verify-full" }));
    await assert.rejects(
      versionWith({ MOORAGE_DATABASE_TLS: "require" }, postgres.url),
      "a server without TLS is not asked in clear text",
    );
    const inUse = await asAdmin(
      (client) => client.query<{ ssl: boolean }>("select ssl from pg_stat_ssl where pid = pg_backend_pid()"),
      `${secured.url}?sslmode=no-verify`,
    );
    assert.equal(inUse.rows[0]?.ssl, true);
  },
);
