import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { loadConfig } from "../../../server/src/index.ts";
import { type Database, openStore } from "../../../kernel/src/store/index.ts";
import { openClient } from "../../../server/test/support/api-client.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { startReplicas } from "../../../server/test/support/replicas.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

// Many callers move tags concurrently. On PostgreSQL their calls share transactions (ADR 14), on SQLite the writer
// thread commits them together; each caller must be answered as if it had been alone.

const digestOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

async function open(
  t: TestContext,
): Promise<Platform & { set(repo: string, name: string, digest: string, identity?: string): Promise<Answer> }> {
  const platform = await startPlatform({ MOORAGE_GC_INTERVAL: "0" });
  t.after(() => platform.close());
  return {
    ...platform,
    set: async (repo, name, digest, identity) =>
      await platform.call("POST", `/registry/v2/tags/${repo}`, {
        token: await platform.token(identity),
        body: { name, digest },
      }),
  };
}

/**
 * Asserts that each tag's history has exactly these digests, in the order of its times and of its events, that the tag
 * points to the last one, and that the counter is right.
 */
async function assertMoved(db: Database, repo: string, moves: ReadonlyMap<string, string[]>): Promise<void> {
  await eventually(
    async () => (await sql<{ n: number }>`select n from event_outbox limit 1`.execute(db)).rows.length <= 0,
  );
  for (const [name, digests] of moves) {
    const { rows: records } = await sql<{ digest: string }>`
      select digest from tag_history where repo = ${repo} and tag = ${name} order by time`.execute(db);
    const history = records.map(({ digest }) => digest);
    assert.deepEqual(history.toSorted(), digests.toSorted(), `${name}: nothing is missing, nothing is there twice`);
    const {
      rows: [tag],
    } = await sql<{ uid: string; digest: string }>`
      select uid, digest from tags where parent = ${repo} and name = ${name}`.execute(db);
    assert.equal(tag?.digest, history.at(-1), name);
    const { rows: events } = await sql<{ number: number; body: string }>`
      select number, body from events where subject = ${tag?.uid} order by seq`.execute(db);
    const steps = events.map(({ body }) => JSON.parse(body) as { digest: string; previousDigest?: string });
    assert.deepEqual(
      steps.map(({ digest }) => digest),
      history,
      `${name}: the events follow the history`,
    );
    assert.deepEqual(
      steps.map(({ previousDigest = "" }) => previousDigest),
      ["", ...history.slice(0, -1)],
    );
    assert.deepEqual(
      events.map(({ number }) => Number(number)),
      history.map((_, at) => at + 1),
    );
  }
  const { rows: counters } = await sql<{ n: number }>`
    select n from counters where kind = 'tags' and ancestor = ${repo}`.execute(db);
  assert.deepEqual(
    counters.map(({ n }) => Number(n)),
    [moves.size],
  );
}

test("of calls for the same tags and for new ones each has its record, its event and its count", async (t) => {
  const { set, reader, ...platform } = await open(t);
  const { uid } = await platform.repo(platform.organization, { name: "moved" });
  const names = Array.from({ length: 30 }, (_, at) => `t${at}`);
  const moves = new Map(names.map((name) => [name, Array.from({ length: 6 }, (_, at) => digestOf(`${name}/${at}`))]));
  const calls = Array.from({ length: 6 }, (_, at) =>
    names.map((name) => ({ name, digest: moves.get(name)?.[at] ?? "" })),
  );
  const answers = await Promise.all(calls.flat().map(({ name, digest }) => set(uid, name, digest)));
  for (const [at, answer] of answers.entries()) {
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      [answer.body.name, answer.body["digest"]],
      [calls.flat()[at]?.name, calls.flat()[at]?.digest],
      "the answer is the caller's own",
    );
  }
  await assertMoved(reader, uid, moves);
});

test("calls that are rejected leave nothing, and change nothing for those beside them", async (t) => {
  const { set, reader, ...platform } = await open(t);
  const { uid } = await platform.repo(platform.organization, {
    name: "rules",
    tagPolicy: { immutableTags: ["v[0-9]+"] },
  });
  const viewer = await platform.identity(platform.organization, "viewer");
  const before = digestOf("before");
  for (const name of ["v1", "v2", "seen"]) assert.equal((await set(uid, name, before)).status, 200);
  const calls = Array.from({ length: 60 }, (_, at) =>
    at % 6 === 1
      ? { name: `v${1 + (at % 2)}`, status: 400 }
      : at % 6 === 3
        ? { name: "seen", identity: viewer, status: 403 }
        : at % 6 === 5
          ? { name: "not a tag", status: 400 }
          : { name: `t${at}`, status: 200 },
  );
  const answers = await Promise.all(
    calls.map(({ name, identity }) => set(uid, name, digestOf(`of ${name}`), identity)),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    calls.map(({ status }) => status),
  );
  const done = calls.filter(({ status }) => status === 200).map(({ name }) => name);
  await assertMoved(
    reader,
    uid,
    new Map([
      ...["v1", "v2", "seen"].map((name): [string, string[]] => [name, [before]]),
      ...done.map((name): [string, string[]] => [name, [digestOf(`of ${name}`)]]),
    ]),
  );
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from audit_entries where method like '%.CreateTag' and decision = 1`.execute(reader);
  assert.equal(Number(rows[0]?.n), done.length + 3, "what was done, and no more, is in the audit log");
});

test("while a repo is deleted, its policy changes and rights end, each call is before or after that", async (t) => {
  const { set, reader, ...platform } = await open(t);
  const kept = (await platform.repo(platform.organization, { name: "kept" })).uid;
  const deleted = (await platform.repo(platform.organization, { name: "deleted" })).uid;
  const leaving = await platform.identity(platform.organization);
  const binding = await platform.bind(platform.organization, leaving, await platform.role("editor"));
  const token = await platform.token();
  const change = async (method: string, path: string, body?: object): Promise<Answer> => {
    await wait(30);
    return await platform.call(method, path, { token, body });
  };
  const moves = Array.from({ length: 40 }, (_, at) => [
    { repo: kept, name: `t${at % 5}`, digest: digestOf(`kept ${at}`) },
    { repo: kept, name: "v1", digest: digestOf(`fixed ${at}`) },
    { repo: deleted, name: `t${at % 5}`, digest: digestOf(`deleted ${at}`) },
    { repo: kept, name: `l${at % 5}`, digest: digestOf(`leaving ${at}`), identity: leaving },
  ]).flat();
  const [answers, ...changes] = await Promise.all([
    Promise.all(moves.map(({ repo, name, digest, identity }) => set(repo, name, digest, identity))),
    change("DELETE", `/registry/v2/repos/${deleted}`),
    change("PATCH", `/registry/v2/repos/${kept}`, { tagPolicy: { immutableTags: ["v1"] } }),
    change("DELETE", `/iam/v2/roleBindings/${binding}`),
  ]);
  assert.deepEqual(
    changes.map(({ status }) => status),
    [200, 200, 200],
  );
  const allowed: Record<string, number[]> = { t: [200], v: [200, 400], l: [200, 404] };
  const done = new Map<string, string[]>();
  for (const [at, { repo, name, digest }] of moves.entries()) {
    const { status, text } = answers[at] ?? assert.fail();
    assert.ok((repo === deleted ? [200, 404] : allowed[name.charAt(0)])?.includes(status), text);
    if (repo === kept && status === 200) done.set(name, [...(done.get(name) ?? []), digest]);
  }
  await assertMoved(reader, kept, done);
  for (const table of ["tags", "counters"]) {
    const column = table === "tags" ? "parent" : "ancestor";
    const { rows } = await sql`select * from ${sql.table(table)} where ${sql.ref(column)} = ${deleted}`.execute(reader);
    assert.deepEqual(rows, [], "nothing of the deleted repo is left");
  }
  // What comes after all that is as it says.
  assert.equal((await set(deleted, "t1", digestOf("later"))).status, 404);
  assert.equal((await set(kept, "v1", digestOf("later"))).status, 400);
  assert.equal((await set(kept, "l1", digestOf("later"), leaving)).status, 404);
});

test(
  "callers of several servers that move the same tags lose nothing",
  { skip: ENGINE === "sqlite" && "several servers need PostgreSQL", timeout: 300_000 },
  async (t) => {
    const { servers, bootstrap, platform: token, env } = await startReplicas(t, 3, { MOORAGE_GC_INTERVAL: "0" });
    const clients = servers.map(({ port }) => openClient(`http://127.0.0.1:${port}`));
    t.after(() => clients.forEach((client) => client.close()));
    const post = async (at: number, path: string, body: object): Promise<{ uid: string }> => {
      const client = clients[at % clients.length] ?? assert.fail();
      const reply = await client.ask("POST", path, {
        token,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = reply.body.toString();
      // An internal error says no more than its request's id: the cause is in the log.
      const logged = servers.flatMap(({ lines }) => lines.map((line) => JSON.stringify(line)));
      const [, requestId = text] = /"requestId":"([^"]+)"/.exec(text) ?? [];
      assert.equal(reply.status, 200, [text, ...logged.filter((line) => line.includes(requestId))].join("\n"));
      return JSON.parse(text) as { uid: string };
    };
    const { uid } = await post(0, `/registry/v2/repos/${bootstrap.organization.uid}`, { name: "shared" });
    const moves = new Map<string, string[]>();
    await Promise.all(
      Array.from({ length: 36 }, async (_, caller) => {
        for (let at = 0; at < 12; at++) {
          const [name, digest] = [`t${(caller + at) % 24}`, digestOf(`${caller}/${at}`)];
          moves.set(name, [...(moves.get(name) ?? []), digest]);
          await post(caller, `/registry/v2/tags/${uid}`, { name, digest });
        }
      }),
    );
    const store = await openStore(loadConfig(env));
    t.after(() => store.close());
    await assertMoved(store.reader, uid, moves);
  },
);
