import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { openWriters } from "../../../server/test/support/writers.ts";
import { commitTogether } from "./group-commit.ts";
import type { ChangeKeys } from "./change-keys.ts";
import { createKeyCache } from "./key-cache.ts";
import { select } from "./statement.ts";
import type { Database } from "./store.ts";

const setTag = (tx: Database, name: string): Promise<unknown> =>
  tx
    .insertInto("tags")
    .values({ uid: name, parent: "r", name, digest: "d", deprecated: 0, bundles: "[]", create_time: 1, update_time: 1 })
    .onConflict((on) => on.column("uid").doUpdateSet({ digest: "e" }))
    .execute();
const addName = (tx: Database, key: string): Promise<unknown> =>
  tx.insertInto("installation").values({ key, value: "" }).execute();

interface Write {
  run(tx: Database): Promise<unknown>;
  keys?: ChangeKeys;
  isDryRun?: true;
  fails?: true;
}

function open(t: TestContext) {
  const { writer, other, reader } = openWriters(t);
  const cache = createKeyCache<string>(reader, 100);
  /** Commits the writes together, each with what it declares. */
  const commit = async (writes: Write[], { db, raw } = writer): Promise<void> => {
    await commitTogether(
      db,
      raw,
      writes.map(({ run, keys, isDryRun, fails }) => ({
        async run(tx) {
          await run(tx);
          if (fails === true) throw new Error("on purpose");
        },
        changes: () => keys,
        ...(isDryRun && { isDryRun }),
        isDeferred: true,
        settle() {},
      })),
    );
    await wait(0);
  };
  /** Keeps a value for each list of keys, runs the work, and answers which of them are still kept. */
  const kept = async (work: () => Promise<void>): Promise<string[]> => {
    await wait(0);
    const values: Record<string, ChangeKeys> = { none: [], a: ["a"], b: ["b"], both: ["a", "b"] };
    for (const [key, keys] of Object.entries(values)) cache.keep(await cache.snapshot(), key, key, keys);
    await wait(0);
    await work();
    const several = await cache.rememberAll(Object.keys(values), () => new Map());
    const found = await Promise.all(
      Object.keys(values).map(async (key) => ((await cache.get(key)) === undefined ? [] : [key])),
    );
    assert.deepEqual([...several.keys()], found.flat());
    return found.flat();
  };
  return { writer, other, reader, cache, commit, kept };
}

const ALL = ["none", "a", "b", "both"];
const tagged = (keys?: ChangeKeys): Write => ({ run: (tx) => setTag(tx, "t"), ...(keys !== undefined && { keys }) });

test("a commit ends the values of the keys that it declares, and all when anything is not declared", async (t) => {
  const { commit, kept, other, writer } = open(t);
  assert.deepEqual(await kept(async () => {}), ALL);
  assert.deepEqual(await kept(() => commit([tagged([])])), ALL);
  assert.deepEqual(await kept(() => commit([tagged(["a"])])), ["none", "b"]);
  assert.deepEqual(await kept(() => commit([tagged(["b"])], other)), ["none", "a"], "of another process's connection");
  assert.deepEqual(await kept(() => commit([tagged(["a"]), tagged(["b"])])), ["none"]);
  assert.deepEqual(await kept(() => commit([tagged(["a"]), tagged()])), [], "one of them says nothing");
  assert.deepEqual(await kept(() => commit([tagged()])), []);
  assert.deepEqual(
    await kept(() => commit([{ run: (tx) => addName(tx, "one"), keys: [] }])),
    [],
    "a table of which nothing can be declared",
  );
  assert.deepEqual(await kept(() => commit([tagged(["a"]), { run: (tx) => addName(tx, "two"), keys: [] }])), []);
  assert.deepEqual(await kept(async () => writer.raw.exec("update tags set digest = 'x'")), [], "by hand");
  assert.deepEqual(await kept(async () => void (await setTag(writer.db, "u"))), [], "outside of a transaction");
  const many = Array.from({ length: 1_000 }, (_, at) => `key ${at}`);
  assert.deepEqual(await kept(() => commit([tagged(many)])), [], "more keys than are looked for");
});

test("what is undone ends nothing, and what it declares is forgotten", async (t) => {
  const { commit, kept, writer } = open(t);
  assert.deepEqual(await kept(() => commit([{ ...tagged(["a"]), isDryRun: true }])), ALL);
  assert.deepEqual(await kept(() => commit([{ ...tagged(), isDryRun: true }, tagged(["b"])])), ["none", "a"]);
  assert.deepEqual(await kept(() => commit([{ ...tagged(["a"]), fails: true }])), ALL);
  assert.deepEqual(await kept(() => commit([{ ...tagged(), fails: true }, tagged(["b"])])), ["none", "a"]);
  writer.raw.exec("begin immediate");
  await setTag(writer.db, "never");
  writer.raw.exec("rollback");
  assert.deepEqual(await kept(() => commit([tagged(["b"])])), ["none", "a"]);
});

test("a value is not kept when what it depends on changed while it was read", async (t) => {
  const { cache, commit } = open(t);
  const since = await cache.snapshot();
  await wait(0);
  await commit([tagged(["a"])]);
  cache.keep(since, "a", "old", ["a"]);
  cache.keep(since, "b", "right", ["b"]);
  assert.deepEqual([await cache.get("a"), await cache.get("b")], [undefined, "right"]);
  await commit([tagged()]);
  cache.keep(since, "c", "old", []);
  assert.deepEqual([await cache.get("b"), await cache.get("c")], [undefined, undefined]);
});

test("after thousands of commits a value is still right, and their rows are few", async (t) => {
  const { cache, commit, reader, kept } = open(t);
  cache.keep(await cache.snapshot(), "far", "far", []);
  for (let at = 0; at < 1_200; at += 1) await commit([tagged([`key ${at}`])]);
  assert.equal(await cache.get("far"), undefined, "whoever has not looked for so long finds nothing");
  for (let at = 0; at < 1_500; at += 1) {
    await commit([tagged([`key ${at}`])]);
    if (at % 500 === 0) assert.deepEqual(await kept(() => commit([tagged(["a"])])), ["none", "b"]);
  }
  const [{ n = 0 } = {}] = await select<{ n: number }>(reader, "select count(*) as n from change_keys", []);
  assert.ok(n > 2_000 && n <= 2_048 + 256, `there are ${n}`);
});
