import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { openWriters } from "../../../server/test/support/writers.ts";
import type { Awaitable } from "../lib/awaitable.ts";
import { embeddedOf } from "./embedded-engine.ts";
import { changesOnlyUncachedTables, UNCACHED_TABLES } from "./uncached-tables.ts";
import { connect } from "./sqlite.ts";
import { statement } from "./statement.ts";
import type { Database } from "./store.ts";

const addEvent = statement(
  "insert into event_outbox (id, type, subject, parent, target, time, actor, body) values ('a', 'b', 'c', 'd', '', 1, '', '')",
);
const numberIt = statement(
  "insert into event_numbers (subject, number) values ('c', 1) on conflict (subject) do update set number = number + 1",
);
const addName = statement("insert into installation (key, value) values (?, 'u')");
const readNames = statement<{ name: string }>("select key as name from installation order by key");
const take = statement<{ id: string }>("delete from event_outbox returning id");

function open(t: TestContext) {
  const { path, writer, other, reader, commit } = openWriters(t);
  /** The version that a caller reads next. */
  const version = async (): Promise<number> => {
    await wait(0);
    const [version, alone] = [embeddedOf(reader)?.version?.(), embeddedOf(reader)?.versionAlone?.()];
    assert.equal(version, alone);
    return version ?? Number.NaN;
  };
  /** Whether the version changes by the works, committed together. */
  const change = async (works: ((tx: Database) => Awaitable<unknown>)[], by = writer): Promise<boolean> => {
    const before = await version();
    await commit(
      works.map((run) => async (tx) => await run(tx)),
      by,
    );
    return (await version()) !== before;
  };
  return { path, writer, other, version, change };
}

const FAILS = async (tx: Database): Promise<void> => {
  await addName(tx, "failed");
  throw new Error("on purpose");
};

test("commits that change only uncached tables are not counted, all others are", async (t) => {
  const { change, other, writer } = open(t);
  assert.equal(await change([addEvent, numberIt, numberIt, take]), false);
  assert.equal(await change([(tx) => addName(tx, "one")]), true);
  assert.equal(await change([addEvent, (tx) => addName(tx, "two"), take]), true);
  assert.equal(await change([addEvent, take]), false, "what was counted once is not counted again");
  assert.equal(await change([addEvent, take], other), false);
  assert.equal(await change([(tx) => addName(tx, "three")], other), true, "another process's connection");
  assert.equal(await change([(tx) => addName(tx, "four"), FAILS]), true);
  assert.equal(
    await change([(tx) => tx.insertInto("installation").values({ key: "five", value: "u" }).execute()]),
    true,
    "by the query builder",
  );
  assert.equal(
    await change([(tx) => tx.updateTable("deliveries").set({ state: 4 }).where("uid", "=", "x").execute()]),
    false,
  );
  assert.equal(
    await change([(tx) => tx.deleteFrom("installation").where("key", "=", "five").returning("key").execute()]),
    true,
  );
  assert.equal(await change([async () => writer.raw.exec("update installation set value = 'v'")]), true, "by hand");
  assert.deepEqual(
    (await readNames(writer.db)).map(({ name }) => name),
    ["four", "one", "three", "two"],
  );
});

test("writes outside of a transaction are counted too", async (t) => {
  const {
    version,
    writer: { db, raw },
  } = open(t);
  const before = await version();
  await addEvent(db);
  assert.equal(await version(), before);
  for (const write of [
    async () => await addName(db, "one"),
    () => db.deleteFrom("installation").execute(),
    async () => raw.exec("create table more (n integer)"),
    async () => raw.exec("begin immediate; update installation set value = ''; commit"),
    () => db.transaction().execute(async (tx) => await addName(tx, "two")),
  ]) {
    const old = await version();
    await write();
    assert.notEqual(await version(), old, String(write));
  }
});

test("a rolled-back change does not make the next transaction count", async (t) => {
  const {
    change,
    version,
    writer: { db, raw },
  } = open(t);
  const before = await version();
  raw.exec("begin immediate");
  await addName(db, "one");
  raw.exec("rollback");
  assert.equal(await version(), before);
  assert.equal(await change([addEvent]), false);
});

test("a statement is uncached only if it is understood", () => {
  for (const text of [
    "select 1",
    "begin immediate",
    "commit",
    "pragma data_version",
    "",
    "with recursive open (parent) as (select 1)\nselect parent from open",
    "insert into event_outbox (id) select id from events",
    "update deliveries set state = 1",
    "update uploads set time = ? where uid = ?",
    "insert or ignore into events values (1)",
    `insert into "deliveries" ("uid") values (?) on conflict ("uid") do update set "state" = ?`,
    "with due as (select uid from deliveries where state in (1, 3)) update deliveries set state = 2 where uid in (select uid from due) returning uid",
    "delete from subscription_leases where holder = ?",
    "update or ignore event_numbers set number = 2; delete from events",
    "update manifests set touch_time = ? where repo = ? and digest in (?) returning digest",
    "update repo_blobs set touch_time = ? where repo = ? and digest in (?, ?) returning digest",
    "update tags set last_pull_time = cast(cast(j.value as text) as bigint) from json_each(?) as j where uid = j.key",
  ])
    assert.equal(changesOnlyUncachedTables(text), true, text);
  for (const text of [
    "update subscriptions set state = 1",
    "insert into tags values (1)",
    "update deliveries set state = 1; delete from tags",
    "with a as (select 1) delete from tags",
    "with a as (select 1)\ninsert into tags select 1 from a",
    "with gone as (delete from tags returning uid) delete from deliveries",
    "replace into repos values (1)",
    "drop table events",
    "vacuum",
    "alter table events add column x",
    "insert into main.tags values (1)",
    "insert into [tags] values (1)",
    "update\n  tags set name = ''",
    "INSERT OR REPLACE INTO tags values (1)",
    "nonsense",
    "create trigger t after insert on events begin delete from tags; end",
    "insert into events_old values (1)",
    "update manifests set touch_time = ?, subject = ? where repo = ?",
    "update manifests set subject = ? where repo = ?",
    "update tags set touch_time = ? where parent = ?",
    "update tags set last_pull_time = ?, name = ? where parent = ?",
    "update tags set last_pull_time = cast(cast(j.value as text) as bigint) from json_each(?) as j, repos as r where uid = j.key",
    "update tags set last_pull_time = ?, name = '' from json_each(?) as j where uid = j.key",
    "update manifests set touch_time = ? where repo = ?; delete from manifests",
  ])
    assert.equal(changesOnlyUncachedTables(text), false, text);
});

test("no trigger or foreign key changes a table beside that of the statement", (t) => {
  const { path } = open(t);
  const database = connect(path, { readOnly: true });
  t.after(() => database.close());
  assert.deepEqual(
    database.prepare("select name from sqlite_master where type not in ('table', 'index')").all(),
    [],
    "no triggers, no views",
  );
  for (const table of database.prepare("select name from sqlite_master where type = 'table'").all()) {
    assert.deepEqual(database.prepare(`pragma foreign_key_list(${String(table["name"])})`).all(), []);
  }
});

// The other half of the rule: cached responses depend on no uncached table. The services of `events` and the handlers
// of uploads are not cached, and neither `admin`, `processes`, the probe of PostgreSQL nor garbage collection serves
// requests.
test("only event services, handlers of uploads, catalogs of images, findings and statistics of pulls read uncached tables", () => {
  // Every area of every package of the server, by its path below src.
  const packages = join(import.meta.dirname, "../../..");
  const sources = globSync("{kernel,platform,registry,security,libraries,server}/src/**/*.ts", { cwd: packages });
  const below = (file: string): string => file.replace(/^\w+[\\/]src[\\/]/, "");
  // Of these only finished catalogs become answers that are cached. An import asks which of its records have findings.
  // A push puts its image into the queue, and what may be attached to one or has changed of it. Answers with findings,
  // what needs attention, exposures, statistics of pulls, reports, what was resolved, differences, ends of life, VEX,
  // scans and images with a library are not cached, nor are those of replications, repos with a gate, statistics of
  // pulls and downloads, and what retention by pulls would delete. What is weighed before it is read is not part of an
  // answer. Jobs measure quotas and report pulls to centers. Clients of libraries get what upstreams say by protocols
  // of their own, and tags of groups that stand for registries are not cached. The checks of areas are those of
  // `moorage fsck`.
  const catalogs =
    /^(?:(?:libraries|registry|security)[\\/]checks\.ts$|libraries[\\/](?:blocks|downloads|upstreams)[\\/]|security[\\/](?:(?:attached|catalog|causes|coverage|diffs|end-of-life|exports|exposures|exploitation|finding-days|findings|gate|images|packages|reading|reports|resolved|sbom|scanners)[\\/]|libraries[\\/](?:held-versions|images|since)\.ts$|feeds[\\/]rows\.ts$)|oci[\\/]manifests[\\/]commands\.ts$|mirroring[\\/]following[\\/]reports\.ts$|operations[\\/]attention[\\/]|registry[\\/](?:(?:pulls|usage)[\\/]|(?:attachment-checks|gate-events|quotas[\\/]pending|repos)\.ts$)|replication[\\/]|trust[\\/]|upstreams[\\/])/;
  const uploads =
    /^oci[\\/](?:blobs[\\/](?:sessions|stale-uploads|commands)|gc[\\/](?:repos|grace-commands|last-use|reachability))\.ts$/;
  const tables = UNCACHED_TABLES.join("|");
  const named = new RegExp(
    `\\b(?:from|join|into|update)\\s+(?:${tables})\\b|(?:from|join|into|table)\\(\\s*["'](?:${tables})\\b`,
    "i",
  );
  const isOthers = (file: string): boolean =>
    file.endsWith(".ts") &&
    !/^(?:events|store|admin|processes)[\\/]|^runtime[\\/]postgres-transactor\.ts$|\.test\.ts$/.test(file) &&
    !uploads.test(file) &&
    !catalogs.test(file);
  const code = (file: string): string =>
    readFileSync(join(packages, file), "utf8").replace(/^\s*(?:\/\/|\/?\*|import\b|export .* from).*$/gm, "");
  const readers = sources.filter((file) => isOthers(below(file)) && named.test(code(file)));
  for (const area of ["events", "oci", "security", "libraries", "runtime"])
    assert.ok(
      sources.some((file) => below(file).startsWith(`${area}${sep}`)),
      area,
    );
  const caught = [
    "select 1 from deliveries as d",
    `tx.selectFrom("events")`,
    "left join event_outbox",
    `.innerJoin("deliveries as d"`,
  ];
  for (const reading of caught) assert.match(reading, named);
  assert.deepEqual(readers, []);
});
