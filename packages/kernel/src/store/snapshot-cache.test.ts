import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { databasePath } from "../lib/database-path.ts";
import { embeddedOf } from "./embedded-engine.ts";
import { migrate, openReader, openWriter } from "./open.ts";
import { createSnapshotCache } from "./snapshot-cache.ts";
import { statement } from "./statement.ts";

const selectValue = statement<{ value: string }>("select value from installation where key = ?");

function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "moorage-cache-"));
  const path = databasePath(folder);
  migrate(path);
  const { raw } = openWriter(path);
  const reader = openReader(path);
  t.after(async () => {
    await reader.destroy();
    raw.close();
    rmSync(folder, { recursive: true });
  });
  const write = (value: string): void =>
    raw.exec(
      `insert into installation values ('a', '${value}') on conflict (key) do update set value = excluded.value`,
    );
  const loads = { count: 0 };
  const load = async (): Promise<string | undefined> => {
    loads.count += 1;
    return (await selectValue(reader, "a"))[0]?.value;
  };
  return { path, reader, raw, write, load, loads };
}

test("a value is loaded once while nothing is committed, and again after every commit", async (t) => {
  const { reader, raw, write, load, loads } = open(t);
  const cache = createSnapshotCache<string>(reader, 10);
  for (const value of ["one", "two", "one", "three"]) {
    write(value);
    const before = loads.count;
    assert.equal(await cache.remember("a", load), value);
    assert.equal(await cache.remember("a", load), value);
    assert.equal(loads.count, before + 1);
  }
  raw.exec("begin; update installation set value = 'never'; rollback");
  assert.equal(await cache.remember("a", load), "three");
  raw.exec("pragma wal_checkpoint(truncate)");
  assert.equal(await cache.remember("a", load), "three");
  write("four");
  assert.equal(await cache.remember("a", load), "four");
  raw.exec("delete from installation");
  assert.equal(await cache.remember("a", load), undefined);
});

test("commits are seen of all tables, and no two connections give one number for them", async (t) => {
  const { path, reader, raw, write, load } = open(t);
  const commits = (): number => embeddedOf(reader)?.commits?.() ?? -1;
  const seen = new Set<number>();
  const isNew = (): boolean => {
    const now = commits();
    assert.equal(commits(), now, "nothing was committed meanwhile");
    const known = seen.has(now);
    seen.add(now);
    return !known;
  };
  assert.ok(isNew());
  await load();
  // Until then it sees what it has read.
  await setImmediate();
  assert.ok(!isNew(), "reading changes nothing");
  write("one");
  assert.ok(isNew());
  // An uncached table.
  raw.exec("insert into signature_checks values ('r/d', 'r', 'd', 0, 0)");
  assert.ok(isNew());
  const other = openReader(path);
  t.after(() => other.destroy());
  assert.ok(!seen.has(embeddedOf(other)?.commits?.() ?? -1));
});

test("a value is not cached when a commit happened while it was loaded", async (t) => {
  const { reader, write, load, loads } = open(t);
  const cache = createSnapshotCache<string>(reader, 10);
  write("old");
  const answer = await cache.remember("a", async () => {
    const value = await load();
    write("new");
    return value;
  });
  assert.equal(answer, "old");
  assert.equal(await cache.remember("a", load), "new");
  // A second load that ends in the meantime, at the newer state, does not cache the result of the first.
  const slow = cache.remember("b", async () => {
    const value = await load();
    write("newest");
    assert.equal(await cache.remember("a", load), "newest");
    return value;
  });
  assert.equal(await slow, "new");
  const before = loads.count;
  assert.equal(await cache.remember("b", load), "newest");
  assert.equal(await cache.remember("a", load), "newest");
  assert.equal(loads.count, before + 1);
});

test("of several values only those that are not cached are loaded, and none is kept when a commit came between", async (t) => {
  const { reader, write } = open(t);
  const cache = createSnapshotCache<string>(reader, 10);
  const asked: string[][] = [];
  const values = async (...keys: string[]): Promise<Record<string, string>> => {
    const found = await cache.rememberAll(keys, async (missing) => {
      asked.push([...missing]);
      const value = (await selectValue(reader, "a"))[0]?.value ?? "";
      return new Map(missing.filter((key) => key !== "absent").map((key) => [key, `${key} ${value}`]));
    });
    return Object.fromEntries(found);
  };
  write("one");
  assert.deepEqual(await values("a", "b"), { a: "a one", b: "b one" });
  assert.deepEqual(await values("b", "c", "absent"), { b: "b one", c: "c one" });
  assert.deepEqual(await values("a", "b", "c"), { a: "a one", b: "b one", c: "c one" });
  assert.deepEqual(asked, [
    ["a", "b"],
    ["c", "absent"],
  ]);
  write("two");
  assert.deepEqual(await values("a", "d"), { a: "a two", d: "d two" });
  assert.deepEqual(asked.at(-1), ["a", "d"]);
  const late = cache.rememberAll(["e"], async () => {
    write("three");
    await setImmediate();
    assert.deepEqual(await values("f"), { f: "f three" });
    return new Map([["e", "e two"]]);
  });
  assert.deepEqual(Object.fromEntries(await late), { e: "e two" });
  assert.deepEqual(await values("e", "f"), { e: "e three", f: "f three" });
  assert.deepEqual(asked.at(-1), ["e"], "what was read since the commit is still cached");
});

test("the cache keeps within its weight, and does not cache undefined", async (t) => {
  const { reader, write, load, loads } = open(t);
  const cache = createSnapshotCache<string>(reader, 4, (text) => text.length);
  assert.equal(await cache.remember("a", load), undefined);
  assert.equal(await cache.remember("a", load), undefined);
  assert.equal(loads.count, 2);
  write("abc");
  await cache.remember("a", load);
  await cache.remember("b", load);
  await cache.remember("b", load);
  assert.equal(loads.count, 4);
  await cache.remember("a", load);
  assert.equal(loads.count, 5);
});

test("keep() caches a value only for the snapshot that it was read from", (t) => {
  const { reader, write } = open(t);
  const cache = createSnapshotCache<string>(reader, 10);
  assert.equal(cache.get("a"), undefined);
  const first = cache.snapshot();
  cache.keep(first, "a", "one");
  assert.equal(cache.get("a"), "one");
  write("two");
  cache.keep(first, "b", "one");
  assert.deepEqual([cache.get("a"), cache.get("b")], [undefined, undefined]);
  cache.keep(cache.snapshot(), "b", "two");
  assert.deepEqual([cache.get("a"), cache.get("b")], [undefined, "two"]);
  cache.keep(undefined, "c", "three");
  assert.equal(cache.get("c"), undefined);
});
