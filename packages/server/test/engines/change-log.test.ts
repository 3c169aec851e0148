import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { arrives } from "../../../kernel/src/lib/arrival.ts";
import { UNCACHED_TABLES } from "../../../kernel/src/store/uncached-tables.ts";
import {
  type ChangeKeys,
  createKeyCache,
  type Database,
  declareChanges,
  shareTransaction,
  type Store,
} from "../../../kernel/src/store/index.ts";
import { databaseEnv, dropDatabase, ENGINE, openTestStore } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";

// Cached values on PostgreSQL end with commits of their own process, of another one, and of clients such as psql.
const LIMIT = {
  timeout: 300_000,
  skip: ENGINE === "sqlite" && "SQLite counts commits itself: store/key-cache.test.ts",
};

const ALL = ["none", "a", "b", "both"];
const VALUES: Record<string, ChangeKeys> = { none: [], a: ["a"], b: ["b"], both: ["a", "b"] };

async function open(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-changes-"));
  const { MOORAGE_DATABASE_URL: url = "" } = await databaseEnv(dataDir);
  const [reading, writing] = [await openTestStore(dataDir), await openTestStore(dataDir)];
  const [hand, other] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await Promise.all([hand.connect(), other.connect()]);
  t.after(async () => {
    await Promise.all([hand.end(), other.end()]);
    for (const { close } of [reading, writing]) await close();
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true, force: true });
  });
  const cache = createKeyCache<string>(reading.store.reader, 100);
  const answers = createKeyCache<string>(reading.store.reader, 100, { endsWithAny: true });
  /** Keeps a value for each list of keys, and an answer, runs the work, and says what is still kept. */
  const kept = async (work: () => Promise<unknown>): Promise<string[]> => {
    for (const [key, keys] of Object.entries(VALUES)) cache.keep(await cache.snapshot(), key, key, keys);
    answers.keep(await answers.snapshot(), "answer", "answer");
    await work();
    const several = await cache.rememberAll(ALL, () => new Map());
    const found = await Promise.all(ALL.map(async (key) => ((await cache.get(key)) === key ? [key] : [])));
    assert.deepEqual([...several.keys()], found.flat());
    return [...found.flat(), ...((await answers.get("answer")) === undefined ? [] : ["answer"])];
  };
  return { reading, writing, store: writing.store, hand, other, cache, kept };
}

const setTag = (tx: Database, name: string): Promise<unknown> =>
  tx
    .insertInto("tags")
    .values({ uid: name, parent: "r", name, digest: "d", deprecated: 0, bundles: "[]", create_time: 1, update_time: 1 })
    .onConflict((on) => on.column("uid").doUpdateSet({ digest: "e" }))
    .execute();
const put = (tx: Database, key: string): Promise<unknown> =>
  tx.insertInto("installation").values({ key, value: "" }).execute();

/** A transaction that sets a tag; `keys`: what it declares, if anything. */
const tagged = (store: Store, keys?: ChangeKeys, name = "t"): Promise<void> =>
  store.transact(async (tx) => {
    await setTag(tx, name);
    if (keys !== undefined) declareChanges(tx, () => keys);
  });

test(
  "a commit ends the values of the keys that it declares, and all when anything is not declared",
  LIMIT,
  async (t) => {
    const { store, reading, kept } = await open(t);
    assert.deepEqual(await kept(async () => {}), [...ALL, "answer"]);
    assert.deepEqual(await kept(() => store.transact((tx) => tx.selectFrom("tags").select("uid").execute())), [
      ...ALL,
      "answer",
    ]);
    assert.deepEqual(await kept(() => tagged(store, [])), ALL, "an answer ends with any change");
    assert.deepEqual(await kept(() => tagged(store, ["a"])), ["none", "b"]);
    assert.deepEqual(await kept(() => tagged(reading.store, ["b"])), ["none", "a"], "of its own process");
    assert.deepEqual(await kept(() => tagged(store, ["a", "b"])), ["none"]);
    assert.deepEqual(await kept(() => tagged(store)), []);
    const others = (): Promise<void> =>
      store.transact(async (tx) => {
        await put(tx, "one");
        declareChanges(tx, () => []);
      });
    assert.deepEqual(await kept(others), [], "a table of which nothing can be declared");
    const later = (): Promise<void> =>
      store.transact(async (tx) => {
        await setTag(tx, "t");
        declareChanges(tx, () => ["a"]);
        await setTag(tx, "u");
      });
    assert.deepEqual(await kept(later), [], "something that was changed after it was declared");
    const many = Array.from({ length: 1_000 }, (_, at) => `key ${at}`);
    assert.deepEqual(await kept(() => tagged(store, many)), [], "more keys than are looked for");
    assert.deepEqual(
      await kept(() => store.transact((tx) => tx.deleteFrom("pull_notes").execute(), { durability: "deferred" })),
      [...ALL, "answer"],
      "an uncached table",
    );
  },
);

test("those who share a transaction each declare what they changed, in any order", LIMIT, async (t) => {
  const { store, kept } = await open(t);
  const together = (...members: (ChangeKeys | undefined)[]): Promise<unknown> =>
    store.transact((tx) =>
      shareTransaction(tx, async (join) => {
        const joined = members.map((keys) => ({ keys, db: join().db }));
        await Promise.all(joined.map(({ db }, at) => setTag(db, `t${at}`)));
        for (const { keys, db } of joined) if (keys !== undefined) declareChanges(db, () => keys);
      }),
    );
  assert.deepEqual(await kept(() => together(["a"], [])), ["none", "b"]);
  assert.deepEqual(await kept(() => together([], ["b"])), ["none", "a"]);
  assert.deepEqual(await kept(() => together(["a"], ["b"])), ["none"]);
  assert.deepEqual(await kept(() => together(["a"], undefined)), []);
});

test("what is undone ends nothing", LIMIT, async (t) => {
  const { store, kept } = await open(t);
  const failing = (): Promise<void> =>
    assert.rejects(
      store.transact(async (tx) => {
        await setTag(tx, "t");
        throw new Error("on purpose");
      }),
    );
  assert.deepEqual(await kept(failing), [...ALL, "answer"]);
  assert.deepEqual(await kept(() => store.transact((tx) => setTag(tx, "t"), { isDryRun: true })), [...ALL, "answer"]);
  const broken = (): Promise<void> =>
    assert.rejects(store.transact((tx) => setTag(tx, "t").then(() => put(tx, "k").then(() => put(tx, "k")))));
  assert.deepEqual(await kept(broken), [...ALL, "answer"]);
});

test("what is changed by hand ends all, in every table that answers may depend on", LIMIT, async (t) => {
  const { writing, hand, kept } = await open(t);
  await tagged(writing.store, []);
  for (const text of [
    "update tags set digest = 'x'",
    "delete from tags",
    "truncate tags",
    "insert into installation values ('by hand', '')",
  ])
    assert.deepEqual(await kept(() => hand.query(text)), [], text);
  assert.deepEqual(await kept(() => hand.query("begin; update tags set digest = 'y'; rollback")), [...ALL, "answer"]);
  assert.deepEqual(await kept(() => put(writing.db, "outside of a transaction")), []);
  const { rows } = await hand.query<{ name: string }>(
    `select relname as name from pg_class as c where relkind = 'r' and relnamespace = current_schema()::regnamespace
      and not exists (select from pg_trigger where tgrelid = c.oid and tgname = 'note_change') order by relname`,
  );
  const without = rows.map(({ name }) => name);
  assert.deepEqual(without, [...UNCACHED_TABLES, "change_keys", "schema_version"].toSorted());
});

test("a transaction is seen when it commits, however long ago it began", LIMIT, async (t) => {
  const { store, kept, cache } = await open(t);
  let commit = (): void => {};
  const isOpen = new Promise<void>((resolve) => (commit = resolve));
  let hasBegun = (): void => {};
  const begun = new Promise<void>((resolve) => (hasBegun = resolve));
  const slow = store.transact(async (tx) => {
    await setTag(tx, "slow");
    declareChanges(tx, () => ["a"]);
    hasBegun();
    await isOpen;
  });
  await begun;
  for (let at = 0; at < 5; at += 1)
    assert.deepEqual(await kept(() => tagged(store, ["b"], `quick ${at}`)), ["none", "a"]);
  cache.keep(await cache.snapshot(), "a", "old", ["a"]);
  commit();
  await slow;
  assert.equal(await cache.get("a"), undefined);
  assert.equal(await cache.get("none"), "none");
});

test("a request is content with a look since it arrived, but for what its process has committed", LIMIT, async (t) => {
  const { store, reading, cache } = await open(t);
  const keep = async (): Promise<void> => cache.keep(await cache.snapshot(), "a", "a", ["a"]);
  await keep();
  await tagged(store, ["a"]);
  assert.equal(await arrives(() => cache.get("a")), undefined, "a look before it arrived");
  await keep();
  await arrives(async () => {
    assert.equal(await cache.get("a"), "a");
    await tagged(reading.store, ["a"]);
    assert.equal(await cache.get("a"), undefined, "what its process has committed");
  });
  await keep();
  await arrives(async () => {
    assert.equal(await cache.get("a"), "a");
    await tagged(store, ["a"]);
    await wait(200);
    assert.equal(await cache.get("a"), undefined, "a request that lasts, such as a stream");
  });
});

// More transactions than rows are kept of.
const MANY = "do $$ begin for n in 1..20000 loop perform pg_current_xact_id(); commit; end loop; end $$";

test("beside a transaction that runs for long values are kept, and it is seen when it commits", LIMIT, async (t) => {
  const { store, kept, hand, other } = await open(t);
  await hand.query("begin; update installation set value = value");
  assert.deepEqual(await kept(() => tagged(store, ["a"])), ["none", "b"]);
  await other.query(MANY);
  assert.deepEqual(await kept(() => tagged(store, ["a"])), ["none", "b"]);
  assert.deepEqual(await kept(async () => {}), [...ALL, "answer"]);
  assert.deepEqual(await kept(() => hand.query("commit")), []);
  assert.deepEqual(await kept(() => tagged(store, ["a"])), ["none", "b"]);
});

test("rows of old transactions are removed, and whoever looked before them begins anew", LIMIT, async (t) => {
  const { store, kept, cache, hand } = await open(t);
  cache.keep(await cache.snapshot(), "far", "far", []);
  await tagged(store, ["early"]);
  // As of a copy of another server's database, whose numbers were not given out here.
  await hand.query("insert into change_keys (number, key) values (9000000000000, 'a')");
  await hand.query(MANY);
  const write = async (worker: number): Promise<void> => {
    for (let at = 0; at < 80; at += 1) await tagged(store, [`key ${at}`], `t${worker}`);
  };
  await Promise.all([0, 1, 2, 3].map(write));
  const keys = async (): Promise<string[]> =>
    (await hand.query<{ key: string }>("select key from change_keys where key in ('a', 'early')")).rows.map(
      ({ key }) => key,
    );
  await eventually(async () => (await keys()).length === 0);
  assert.equal(await cache.get("far"), undefined);
  assert.deepEqual(await kept(() => tagged(store, ["a"])), ["none", "b"]);
});

test("when the connection for looks ends, what was kept is read again", LIMIT, async (t) => {
  const { store, kept, hand, cache } = await open(t);
  const end = async (): Promise<void> => {
    await hand.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'select pg_current_snapshot()%' and pid <> pg_backend_pid()",
    );
  };
  assert.deepEqual(await kept(end), []);
  await eventually(() => cache.snapshot());
  assert.deepEqual(await kept(() => tagged(store, ["a"])), ["none", "b"]);
});
