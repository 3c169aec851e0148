import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { type Database, selectArrays, statement } from "../../../kernel/src/store/index.ts";
import { ENGINE, openTestStore } from "../support/database.ts";

const KEYS = 40;

const selectValue = statement<{ key: string; value: string }>("select key, value from installation where key = ?", [
  "text",
]);
const selectBetween = statement<{ key: string }>("select key from installation where key >= ? and key < ?", [
  "text",
  "text",
]);

async function open(t: TestContext): Promise<{ reader: Database; write(key: string, value: string): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-reads-"));
  const { store, close } = await openTestStore(dataDir);
  t.after(async () => {
    await close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const write = (key: string, value: string): Promise<void> =>
    store.transact(async (tx) => {
      await tx
        .insertInto("installation")
        .values({ key, value })
        .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
        .execute();
    });
  for (let at = 0; at < KEYS; at += 1) await write(keyOf(at), `value ${at}`);
  return { reader: store.reader, write };
}

function keyOf(at: number): string {
  return `key ${String(at).padStart(2, "0")}`;
}

// SQLite's rows have no prototype.
function plain<R extends object>(rows: R[]): R[] {
  return rows.map((row) => ({ ...row }));
}

test("of many who ask at the same time each gets its own rows, as objects and as arrays", async (t) => {
  const { reader } = await open(t);
  // Some ask for the same, some for what is not there, some for several rows, in different statements.
  const ask = async (at: number): Promise<void> => {
    const key = keyOf(at % 50);
    const expected = at % 50 < KEYS ? [{ key, value: `value ${at % 50}` }] : [];
    assert.deepEqual(plain(await selectValue(reader, key)), expected);
    const text = "select key, value from installation where key = ?";
    assert.deepEqual(await selectArrays(reader, text, [key], ["key", "value"]), expected.map(Object.values));
    const [from, to] = [at % 30, (at % 30) + (at % 5)];
    assert.deepEqual(
      (await selectBetween(reader, keyOf(from), keyOf(to))).map((row) => row.key).toSorted(),
      Array.from({ length: at % 5 }, (_, index) => keyOf(from + index)),
    );
  };
  for (let round = 0; round < 10; round += 1)
    await Promise.all(Array.from({ length: 200 }, (_, at) => ask(at * 7 + round)));
});

test("rows are nobody else's: one caller's change is not seen by another that asked for the same", async (t) => {
  const { reader } = await open(t);
  const [first, second] = await Promise.all([selectValue(reader, keyOf(1)), selectValue(reader, keyOf(1))]);
  for (const row of first) row.value = "changed";
  first.length = 0;
  assert.deepEqual(plain(second), [{ key: keyOf(1), value: "value 1" }]);
});

test("whoever asks after a commit was answered sees it, while others ask all the time", async (t) => {
  const { reader, write } = await open(t);
  let isOver = false;
  const others = Array.from({ length: 20 }, async () => {
    while (!isOver) await selectValue(reader, keyOf(0));
  });
  for (let at = 0; at < 100; at += 1) {
    await write(keyOf(0), String(at));
    assert.equal((await selectValue(reader, keyOf(0)))[0]?.value, String(at));
  }
  isOver = true;
  await Promise.all(others);
});

test("a text that the database rejects fails for who sent it, and for nobody else", async (t) => {
  if (ENGINE === "sqlite") return t.skip("SQLite stores any text");
  const { reader } = await open(t);
  const keys = [keyOf(1), "a\u0000b", keyOf(2), "a\u0000b", "none"];
  const answers = await Promise.allSettled(keys.map((key) => selectValue(reader, key)));
  assert.deepEqual(
    answers.map((answer) => (answer.status === "fulfilled" ? answer.value.map(({ value }) => value) : "rejected")),
    [["value 1"], "rejected", ["value 2"], "rejected", []],
  );
  assert.equal((await selectValue(reader, keyOf(3)))[0]?.value, "value 3");
});

test("all who ask get an answer while connections are ended again and again", async (t) => {
  if (ENGINE === "sqlite") return t.skip("SQLite has no connections");
  const { reader } = await open(t);
  let isOver = false;
  const ending = (async () => {
    while (!isOver) {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(reader);
      // Long enough for a connection to be made and used.
      await wait(50);
    }
  })();
  await Promise.all(
    Array.from({ length: 20 }, async (_, caller) => {
      for (let round = 0; round < 50; round += 1) {
        const at = (caller + round) % KEYS;
        assert.equal((await selectValue(reader, keyOf(at)))[0]?.value, `value ${at}`);
      }
    }),
  );
  isOver = true;
  await ending;
});
