import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import type { Database, Store } from "../../../kernel/src/store/index.ts";
import { dropDatabase, ENGINE, openTestStore } from "../support/database.ts";

// Whether a commit waits for the disk: all do, but those of work that the server would do again by itself.
let folder: string;
let store: Store;
let close: () => Promise<void>;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "moorage-durability-"));
  ({ store, close } = await openTestStore(folder));
  if (ENGINE === "sqlite") return;
  // The server of tests waits for no disk at all, unless a database says otherwise, which new connections read.
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(store.reader);
  await sql`alter database ${sql.id(rows[0]?.name ?? "")} set synchronous_commit = on`.execute(store.reader);
  await close();
  ({ store, close } = await openTestStore(folder));
});
after(async () => {
  await close();
  await dropDatabase(folder);
  rmSync(folder, { recursive: true, force: true });
});

/** What PostgreSQL does at the commit of the transaction. */
async function commitOf(tx: Database): Promise<string | undefined> {
  const { rows } = await sql<{ now: string }>`select current_setting('synchronous_commit') as now`.execute(tx);
  return rows[0]?.now;
}
const put = (tx: Database, key: string): Promise<unknown> =>
  tx.insertInto("installation").values({ key, value: "there" }).execute();

test("a deferred transaction is committed, and the next one on its connection waits for the disk again", async () => {
  await store.transact((tx) => put(tx, "deferred"), { durability: "deferred" });
  const row = await store.reader.selectFrom("installation").select("value").where("key", "=", "deferred").execute();
  assert.deepEqual(
    row.map(({ value }) => value),
    ["there"],
  );
  if (ENGINE === "sqlite") return;
  assert.equal(await store.transact(commitOf, { durability: "deferred" }), "off");
  const settings = await Promise.all(Array.from({ length: 8 }, () => store.transact(commitOf)));
  assert.deepEqual([...new Set(settings)], ["on"]);
});

test("what throws in a deferred transaction leaves nothing", async () => {
  const work = async (tx: Database): Promise<never> => {
    await put(tx, "half");
    throw new Error("stopped");
  };
  await assert.rejects(store.transact(work, { durability: "deferred" }), /stopped/);
  const rows = await store.reader.selectFrom("installation").select("value").where("key", "=", "half").execute();
  assert.deepEqual(rows, []);
});
