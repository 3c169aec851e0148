import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, type Row, select, takeAdvisoryLock } from "@moorage/kernel/store";
import { noteImageChange } from "../causes/image-cause.ts";
import {
  cluesIn,
  deleteArchives,
  knownGroups,
  partsOfKey,
  withArchives,
  withCoordinates,
} from "../catalog/archives.ts";
import { CATALOGING } from "../catalog/command-options.ts";
import { identify } from "../catalog/java-groups.ts";
import { removeUnused } from "../catalog/remove.ts";
import { packageRow } from "../catalog/rows.ts";
import type { Unread } from "../catalog/types.ts";
import type { MatchingStep } from "./match-packages.ts";
import { readState, writeState } from "../causes/matching-state.ts";

// Changes and archives that one transaction looks at.
const BATCH_CHANGES = 500;
const BATCH_ARCHIVES = 100;
// Rows per statement, below the parameter limit of every engine.
const ROWS = 400;

/** The last archive of the changes at hand that was looked at, and the change with which they end. */
type Position = [last: number, artifact: string, digest: string, source: string, n: number];
type Named = Row<"image_archive_names">;

/**
 * Looks again at the Java archives that may be an artifact of which the next changed records speak. What is
 * identified becomes a package that is new, and is compared with all records as such. An image is not read again.
 */
export const identifyArchives = command(
  "security.identifyArchives",
  async (call: Call): Promise<MatchingStep> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "catalogs");
    const { value, position } = await readState(tx, "archives");
    const begun = position === "" ? undefined : (JSON.parse(position) as Position);
    const window = begun === undefined ? await nextChanges(tx, value) : { last: begun[0], isAll: false };
    if (window === undefined) return { opened: 0, closed: 0, isDone: true };
    const named = await archivesNamed(tx, value, window.last, begun);
    const byReading = Map.groupBy(named, ({ digest, source }) => `${digest} ${source}`);
    for (const archives of byReading.values()) {
      const [first] = archives;
      if (first !== undefined) await tryAgain(call, first, archives);
    }
    const final = named.at(-1);
    if (final !== undefined && named.length === BATCH_ARCHIVES) {
      const { artifact, digest, source, n } = final;
      await writeState(tx, "archives", { value, position: JSON.stringify([window.last, artifact, digest, source, n]) });
      return { opened: 0, closed: 0, isDone: false };
    }
    await writeState(tx, "archives", { value: window.last, position: "" });
    return { opened: 0, closed: 0, isDone: window.isAll };
  },
  CATALOGING,
);

/** Up to which change one transaction looks: to the last of all when no archive waits. Undefined when there is none. */
async function nextChanges(tx: Database, after: number): Promise<{ last: number; isAll: boolean } | undefined> {
  const [some] = await select<{ digest: string }>(tx, "select digest from image_archives limit 1", []);
  const next = tx.selectFrom("feed_records").select("change").where("change", ">", after);
  if (some === undefined) {
    const row = await next.orderBy("change", "desc").limit(1).executeTakeFirst();
    return row === undefined ? undefined : { last: Number(row.change), isAll: true };
  }
  const rows = await next.orderBy("change").limit(BATCH_CHANGES).execute();
  const last = rows.at(-1);
  return last === undefined ? undefined : { last: Number(last.change), isAll: rows.length < BATCH_CHANGES };
}

/** The next archives that may be artifacts of which the records of these changes speak. */
async function archivesNamed(tx: Database, after: number, last: number, begun?: Position): Promise<Named[]> {
  const keys = await select<{ key: string }>(
    tx,
    `select distinct k.key from feed_records as r join feed_keys as k on k.feed = r.feed and k.record = r.id
     and k.kind = 'package' and k.key >= 'maven/' and k.key < 'maven0' where r.change > ? and r.change <= ?`,
    [after, last],
  );
  const from = begun?.[1] ?? "";
  const artifacts = [...new Set(keys.map(({ key }) => partsOfKey(key).name))].filter((name) => name >= from);
  const found: Named[] = [];
  for (let at = 0; at < artifacts.length; at += ROWS) {
    const some = artifacts.slice(at, at + ROWS);
    const rows = await select<Named>(
      tx,
      `select artifact, digest, source, n from image_archive_names where artifact in (${some.map(() => "?").join(", ")})
       and (artifact, digest, source, n) > (?, ?, ?, ?) order by artifact, digest, source, n limit ${BATCH_ARCHIVES}`,
      [...some, from, begun?.[2] ?? "", begun?.[3] ?? "", begun?.[4] ?? 0],
    );
    found.push(...rows);
  }
  const order = (a: Named, b: Named): number =>
    compare(a.artifact, b.artifact) ||
    compare(a.digest, b.digest) ||
    compare(a.source, b.source) ||
    Number(a.n) - Number(b.n);
  return found.sort(order).slice(0, BATCH_ARCHIVES);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Identifies those of the archives of one reading of an image that can be now. */
async function tryAgain(call: Call, { digest, source }: Named, archives: readonly Named[]): Promise<void> {
  const { tx } = call;
  const numbers = [...new Set(archives.map(({ n }) => Number(n)))];
  const rows = await select<{ n: number; clues: string; package: string; layer: string; path: string; reader: string }>(
    tx,
    `select a.n, a.clues, i.package, i.layer, i.path, i.reader from image_archives as a
     join image_packages as i on i.digest = a.digest and i.source = a.source and i.n = a.n
     where a.digest = ? and a.source = ? and a.n in (${numbers.map(() => "?").join(", ")})`,
    [digest, source, ...numbers],
  );
  const clues = rows.map((row) => cluesIn(row.clues));
  const groupsOf = await knownGroups(
    tx,
    clues.flatMap(({ candidates }) => candidates.map(([artifact]) => artifact)),
  );
  const before: string[] = [];
  for (const [at, { n, layer, path, reader, package: id }] of rows.entries()) {
    const own = clues[at];
    const found = own === undefined ? undefined : identify(own, groupsOf);
    if (found === undefined) continue;
    const old = await tx.selectFrom("packages").selectAll().where("id", "=", id).executeTakeFirst();
    const place = { layer, path, reader, sourceName: "", sourceVersion: "", licence: old?.licence ?? "" };
    const component = withCoordinates({ ...place, purl: "", name: "", version: "" }, found);
    if (component === undefined) continue;
    const row = packageRow(component);
    await tx
      .insertInto("packages")
      .values(row)
      .onConflict((on) => on.doNothing())
      .execute();
    await tx
      .updateTable("image_packages")
      .set({ package: row.id })
      .where("digest", "=", digest)
      .where("source", "=", source)
      .where("n", "=", Number(n))
      .execute();
    await deleteArchives(tx, digest, source, Number(n));
    before.push(id);
  }
  if (before.length === 0) return;
  await removeUnused(tx, [...new Set(before)]);
  await noteAgain(call, digest);
}

/** Writes what is noted of the image anew; an image that is being read notes it at its end. */
async function noteAgain(call: Call, digest: string): Promise<void> {
  const query = call.tx.selectFrom("image_catalogs").select("unread").where("digest", "=", digest);
  const row = await query.executeTakeFirst();
  if (row === undefined) return;
  const unread = await withArchives(call.tx, digest, JSON.parse(row.unread) as Unread[]);
  await call.tx
    .updateTable("image_catalogs")
    .set({ unread: JSON.stringify(unread) })
    .where("digest", "=", digest)
    .execute();
  await noteImageChange(call, digest);
}
