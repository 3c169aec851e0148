import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type Database, type Store, statement } from "../../../kernel/src/store/index.ts";
import { databaseEnv, dropDatabase, ENGINE, openTestStore } from "../support/database.ts";

// Two transactions look for the same, find nothing, and insert the same key. PostgreSQL detects that as a collision
// where they looked by the index of the key; where they looked by another one, the second insert violates the key.

const LIMIT = { timeout: 300_000, skip: ENGINE === "sqlite" && "on SQLite one transaction writes at a time" };

const insert = statement("insert into named (key, label) values (?, ?)");
const byLabel = statement<{ key: string }>("select key from named where label = ?");

async function open(t: TestContext): Promise<{ store: Store; db: Database }> {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-duplicates-"));
  await databaseEnv(dataDir);
  const { store, db, close } = await openTestStore(dataDir);
  t.after(async () => {
    await close();
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true, force: true });
  });
  await statement("create table named (key text primary key, label text not null)")(db);
  await statement("create index named_label on named (label)")(db);
  return { store, db };
}

test("who inserts a key that another has inserted since it looked looks again", LIMIT, async (t) => {
  const { store, db } = await open(t);
  const { promise: bothHaveLooked, resolve } = Promise.withResolvers<void>();
  let looks = 0;
  const make = (by: string) => async (tx: Database) => {
    const [found] = await byLabel(tx, "one");
    looks += 1;
    if (looks === 2) resolve();
    await bothHaveLooked;
    if (found !== undefined) return `${by} found ${found.key}`;
    await insert(tx, "one", "one");
    return `${by} made it`;
  };
  const answers = await Promise.all([store.transact(make("a")), store.transact(make("b"))]);
  assert.equal(answers.filter((answer) => answer.endsWith("made it")).length, 1, answers.join(", "));
  assert.equal(answers.filter((answer) => answer.endsWith("found one")).length, 1, answers.join(", "));
  assert.deepEqual(await statement("select * from named")(db), [{ key: "one", label: "one" }]);
});

test("a key that is there all along is an error after a few attempts", LIMIT, async (t) => {
  const { store, db } = await open(t);
  await insert(db, "one", "one");
  let attempts = 0;
  const again = store.transact(async (tx) => {
    attempts += 1;
    await insert(tx, "one", "another");
  });
  await assert.rejects(again, /duplicate key value violates unique constraint/);
  assert.ok(attempts > 1 && attempts < 10, `${attempts} attempts`);
});
