import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openWriters } from "../../../server/test/support/writers.ts";
import { commitTogether, type Work } from "./group-commit.ts";
import { createSnapshotCache } from "./snapshot-cache.ts";
import { statement } from "./statement.ts";
import type { Database } from "./store.ts";

const addKey = statement("insert into installation (key, value) values (?, 'v')");
const setValue = statement("update installation set value = ? where key = ?");
const selectKeys = statement<{ key: string }>("select key from installation order by key");
const selectValue = statement<{ value: string }>("select value from installation where key = ?");

function open(t: TestContext) {
  const { reader, ...writers } = openWriters(t);
  const keys = async (): Promise<string[]> => (await selectKeys(reader)).map(({ key }) => key);
  return { ...writers, reader, keys };
}

const add =
  (key: string): Work["run"] =>
  async (tx) => {
    await addKey(tx, key);
    return key;
  };

test("a write that fails changes nothing, before or after it has written, and the others are committed", async (t) => {
  const { commit, keys } = open(t);
  const failsEarly = async (tx: Database): Promise<void> => {
    await selectKeys(tx);
    throw new Error("early");
  };
  const failsLate = async (tx: Database): Promise<void> => {
    await addKey(tx, "late");
    throw new Error("late");
  };
  const failsInTheDatabase = async (tx: Database): Promise<void> => {
    await addKey(tx, "twice");
    await addKey(tx, "twice");
  };
  assert.deepEqual(await commit([add("a"), failsEarly, add("b")]), ["a", "early", "b"]);
  assert.deepEqual(await keys(), ["a", "b"]);
  assert.deepEqual(await commit([add("c"), failsLate, add("d"), failsEarly]), ["c", "late", "d", "early"]);
  assert.deepEqual(await keys(), ["a", "b", "c", "d"]);
  const [, message] = await commit([failsLate, failsInTheDatabase, add("e"), add("a")]);
  assert.match(String(message), /UNIQUE/);
  assert.deepEqual(await keys(), ["a", "b", "c", "d", "e"]);
  // Alone.
  assert.deepEqual(await commit([failsLate]), ["late"]);
  assert.deepEqual(await commit([failsEarly]), ["early"]);
  assert.deepEqual(await commit([add("f")]), ["f"]);
  assert.deepEqual(await keys(), ["a", "b", "c", "d", "e", "f"]);
});

test("what a branch of a write does after another has failed is undone with it", async (t) => {
  const { commit, keys } = open(t);
  const inBranches = async (tx: Database): Promise<void> => {
    const late = async (): Promise<void> => {
      // The query builder answers in a later microtask, even where the database is synchronous.
      for (let reads = 0; reads < 20; reads += 1) await tx.selectFrom("installation").select("key").execute();
      await addKey(tx, "late");
    };
    await Promise.all([late(), Promise.reject(new Error("refused"))]);
  };
  assert.deepEqual(await commit([add("a"), inBranches, add("b")]), ["a", "refused", "b"]);
  assert.deepEqual(await commit([inBranches]), ["refused"]);
  assert.deepEqual(await commit([dry(inBranches), add("c")]), ["refused", "c"]);
  // Whatever still goes on has its turn.
  await nextTurn();
  assert.deepEqual(await keys(), ["a", "b", "c"]);
});

test("a write is run again only beside one that failed after it had written, and then once", async (t) => {
  const { commit } = open(t);
  const runs = { count: 0 };
  const counted: Work["run"] = async (tx) => {
    runs.count += 1;
    await selectKeys(tx);
  };
  const failing =
    (key: string | undefined): Work["run"] =>
    async (tx) => {
      await counted(tx);
      if (key !== undefined) await addKey(tx, key);
      throw new Error("on purpose");
    };
  const runsOf = async (works: Work["run"][]): Promise<number> => {
    runs.count = 0;
    await commit(works);
    return runs.count;
  };
  assert.equal(await runsOf([counted, counted, failing(undefined), counted]), 4);
  assert.equal(await runsOf([failing("k")]), 1);
  assert.equal(await runsOf([counted, failing("k"), counted, failing("l")]), 2 + 4);
});

const dry = (run: Work["run"]) => ({ isDryRun: true as const, run });

test("a dry run has its result and changes nothing, and what is beside it is neither undone nor run again", async (t) => {
  const { commit, keys, reader } = open(t);
  const runs = { count: 0 };
  const counted: Work["run"] = async (tx) => {
    runs.count += 1;
    return (await selectKeys(tx)).map(({ key }) => key);
  };
  const failsLate: Work["run"] = async (tx) => {
    await addKey(tx, "late");
    throw new Error("late");
  };
  assert.deepEqual(
    await commit([add("a"), dry(add("dry")), counted, dry(failsLate), add("b"), dry(add("b")), counted]),
    ["a", "dry", ["a"], "late", "b", "UNIQUE constraint failed: installation.key", ["a", "b"]],
  );
  assert.equal(runs.count, 2);
  // Beside one that fails after it has written, all are run again.
  assert.deepEqual(await commit([dry(add("dry")), failsLate, add("c"), dry(counted)]), [
    "dry",
    "late",
    "c",
    ["a", "b", "c"],
  ]);
  assert.deepEqual(await keys(), ["a", "b", "c"]);
  const cache = createSnapshotCache<string>(reader, 10);
  const before = cache.snapshot();
  assert.deepEqual(await commit([dry(add("dry")), dry(failsLate)]), ["dry", "late"]);
  const event: Work["run"] = async (tx) =>
    void (await tx.updateTable("deliveries").set({ state: 4 }).where("uid", "=", "x").execute());
  assert.deepEqual(await commit([dry(add("dry")), event]), ["dry", undefined]);
  assert.equal(cache.snapshot(), before, "no cached answer is dropped");
  assert.deepEqual(await keys(), ["a", "b", "c"]);
});

test("on a connection that writes, values are kept until one of their tables changes", async (t) => {
  const { writer, other, commit } = open(t);
  const cache = createSnapshotCache<string>(writer.db, 10, undefined, ["installation"]);
  const loads = { count: 0 };
  /** The value, and whether it was loaded. */
  const read = async (tx: Database): Promise<[string | undefined, boolean]> => {
    const before = loads.count;
    const value = await cache.remember("k", async () => {
      loads.count += 1;
      return (await selectValue(tx, "k"))[0]?.value;
    });
    return [value, loads.count > before];
  };
  const set =
    (value: string): Work["run"] =>
    async (tx) =>
      void (await setValue(tx, value, "k"));
  const failing: Work["run"] = async (tx) => {
    await setValue(tx, "failed", "k");
    assert.deepEqual(await read(tx), ["failed", true]);
    throw new Error("on purpose");
  };
  const event: Work["run"] = async (tx) =>
    void (await tx.updateTable("deliveries").set({ state: 4 }).where("uid", "=", "x").execute());
  await commit([add("k")]);
  assert.deepEqual(await commit([read, read, event, read]), [["v", true], ["v", false], undefined, ["v", false]]);
  assert.deepEqual(await commit([read, set("two"), read]), [["v", false], undefined, ["two", true]]);
  assert.deepEqual(await commit([read, failing, read]), [["two", true], "on purpose", ["two", true]]);
  await commit([failing]);
  assert.deepEqual(await commit([read]), [["two", true]]);
  const tried = async (tx: Database) => {
    await setValue(tx, "dry", "k");
    return await read(tx);
  };
  assert.deepEqual(await commit([read, dry(tried), read]), [
    ["two", false],
    ["dry", true],
    ["two", true],
  ]);
  assert.deepEqual(await commit([dry(tried)]), [["dry", true]]);
  assert.deepEqual(await commit([read]), [["two", true]]);
  await commit([set("three")], other);
  assert.deepEqual(await commit([read, read]), [
    ["three", true],
    ["three", false],
  ]);
  writer.raw.exec("update installation set value = 'four'");
  assert.deepEqual(await commit([read]), [["four", true]]);
  // The engine itself ends the transaction, as it does when the disk is full.
  await commit([
    async (tx) => {
      await setValue(tx, "lost", "k");
      assert.deepEqual(await read(tx), ["lost", true]);
      writer.raw.prepare("rollback").run();
      throw new Error("the disk is full");
    },
    set("never"),
  ]);
  assert.deepEqual(await commit([read]), [["four", true]]);
  // Outside of a transaction another connection may commit at any time.
  assert.deepEqual(
    [await read(writer.db), await read(writer.db)].map(([, isLoaded]) => isLoaded),
    [true, true],
  );
});

test("a commit waits for the disk unless all of its writes are deferred, and the next one does again", async (t) => {
  const {
    writer: { raw, db },
    keys,
  } = open(t);
  // What SQLite does at a commit: 1 writes the log, 2 waits for the disk as well.
  const levels: unknown[] = [];
  const looking = (key: string, isDeferred: boolean): Work => ({
    async run(tx) {
      levels.push(raw.prepare("pragma synchronous").get()?.["synchronous"]);
      await addKey(tx, key);
    },
    isDeferred,
    settle: (result) => assert.ok("value" in result),
  });
  await commitTogether(db, raw, [looking("a", false)]);
  await commitTogether(db, raw, [looking("b", true), looking("c", true)]);
  await commitTogether(db, raw, [looking("d", true)]);
  await commitTogether(db, raw, [looking("e", true), looking("f", false)]);
  await commitTogether(db, raw, [looking("g", false)]);
  assert.deepEqual(levels, [2, 1, 1, 1, 2, 2, 2]);
  assert.deepEqual(await keys(), ["a", "b", "c", "d", "e", "f", "g"]);
});
