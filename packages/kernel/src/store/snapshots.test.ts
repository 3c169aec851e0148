import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { databasePath } from "../lib/database-path.ts";
import { migrate, openReader, openWriter } from "./open.ts";
import { statement } from "./statement.ts";

const selectValue = statement<{ value: string }>("select value from installation where key = ?");
const WRITE = "insert into installation values ('a', ?) on conflict (key) do update set value = excluded.value";

function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "moorage-snapshots-"));
  const path = databasePath(folder);
  migrate(path);
  const reader = openReader(path);
  // Opened without the store, like by another process: this does not end the reader's snapshots.
  const other = new DatabaseSync(path);
  const insert = other.prepare(WRITE);
  t.after(async () => {
    await reader.destroy();
    other.close();
    rmSync(folder, { recursive: true });
  });
  const read = async (): Promise<string | undefined> => (await selectValue(reader, "a"))[0]?.value;
  return { path, reader, read, write: (value: string): void => void insert.run(value) };
}

test("all reads of a call see the same state, by query builder or raw statement", async (t) => {
  const { reader, read, write } = open(t);
  write("one");
  await turn();
  assert.equal(await read(), "one");
  write("two");
  assert.equal(await read(), "one");
  assert.equal(
    (await reader.selectFrom("installation").select("value").where("key", "=", "a").executeTakeFirst())?.value,
    "one",
  );
});

test("a call that begins after a commit sees it, a hundred times, and while other calls continue", async (t) => {
  const { read, write } = open(t);
  for (let at = 0; at < 100; at += 1) {
    // A call that is still reading when the next one begins.
    const slow = (async () => {
      const first = await read();
      await turn();
      return [first, await read()];
    })();
    await new Promise<void>((resolve) => {
      setImmediate(() => {
        write(`value ${at}`);
        resolve();
      });
    });
    // Code that waits for a commit is notified through the event loop, as the server is by clients and the writer
    // thread.
    await turn();
    assert.equal(await read(), `value ${at}`);
    const [, second] = await slow;
    assert.ok(second === `value ${at}` || second === `value ${at - 1}` || second === undefined);
  }
});

test("each callback of the event loop sees what was committed before it", async (t) => {
  const { read, write } = open(t);
  write("0");
  const seen: (string | undefined)[] = [];
  await Promise.all(
    Array.from(
      { length: 50 },
      (_, at) =>
        new Promise<void>((resolve) => {
          // All of them run in one phase of the event loop, one after the other.
          setImmediate(() => {
            write(String(at + 1));
            void read().then(async (value) => {
              seen.push(value, await read());
              resolve();
            });
          });
        }),
    ),
  );
  assert.deepEqual(
    seen,
    Array.from({ length: 100 }, (_, at) => String((at >> 1) + 1)),
  );
});

test("a commit in the same thread is visible immediately, and does not wait for a reader", async (t) => {
  const { path, read } = open(t);
  const { raw, db } = openWriter(path);
  t.after(() => raw.close());
  for (const value of ["one", "two"]) {
    await read();
    raw.exec(
      `insert into installation values ('a', '${value}') on conflict (key) do update set value = excluded.value`,
    );
    assert.equal(await read(), value);
    await db
      .updateTable("installation")
      .set({ value: `${value}, changed` })
      .where("key", "=", "a")
      .execute();
    assert.equal(await read(), `${value}, changed`);
    // It would wait for the reader's snapshot, for seconds.
    raw.exec("pragma wal_checkpoint(truncate)");
  }
});

test("a reader can be closed in the middle of a call", async (t) => {
  const { path } = open(t);
  const reader = openReader(path);
  await selectValue(reader, "a");
  await reader.destroy();
  await turn();
  await assert.rejects(async () => await selectValue(reader, "a"));
});
