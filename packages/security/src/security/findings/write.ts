import type { Database, Row } from "@moorage/kernel/store";
import { notePackageChanges } from "../causes/causes.ts";
import type { PackageLookup } from "../matching/package-keys.ts";
import { type Hit, hitOf } from "../matching/record-affects.ts";
import type { MatchedRecord } from "./records.ts";

/** Why a finding was opened: its package is new, or its record is new or says something else. */
export type OpenReason = "PACKAGE" | "RECORD";
/** Why it was closed: CHANGED, the record does not affect the package any more, or says something else about it. */
type CloseReason = "REMOVED" | "WITHDRAWN" | "CHANGED";

/** A package and a record that may have to do with each other. */
export interface Pair {
  package: string;
  record: MatchedRecord;
}

// Rows per statement, below the parameter limit of every engine.
const ROWS = 300;

/** The look-ups of packages. */
export async function lookupsByPackage(
  tx: Database,
  packages: readonly string[],
): Promise<Map<string, PackageLookup[]>> {
  const found = new Map<string, PackageLookup[]>();
  for (let at = 0; at < packages.length; at += ROWS)
    for (const { package: id, key, version } of await tx
      .selectFrom("package_keys")
      .selectAll()
      .where("package", "in", packages.slice(at, at + ROWS))
      .execute())
      found.set(id, [...(found.get(id) ?? []), { key, version }]);
  return found;
}

/**
 * Compares packages with records, and opens and closes findings so that they are what the records say. Doing it again
 * changes nothing. Whoever calls it holds the lock of matching, so that findings and packages stay as they are read.
 * Returns how many were opened and closed.
 */
export async function writeFindings(
  { tx, nowMs }: { tx: Database; nowMs: number },
  pairs: readonly Pair[],
  lookups: ReadonlyMap<string, readonly PackageLookup[]>,
  reason: OpenReason,
): Promise<{ opened: number; closed: number }> {
  const open = await openFindings(tx, pairs);
  const opened: Row<"package_findings">[] = [];
  const ended = new Map<MatchedRecord, string[]>();
  const changed = new Set<string>();
  for (const { package: id, record } of pairs) {
    const before = open.get(pairKey(id, record.feed, record.id));
    const hit = hitOf(record.affects, lookups.get(id) ?? []);
    const after = hit === undefined ? undefined : contentOf(hit);
    if (before === undefined ? after === undefined : isSame(before, after)) {
      // It may be of another severity now, by which the open findings of images are counted.
      if (before !== undefined && before.change !== record.change && Number(before.modified) !== record.modified)
        changed.add(id);
      continue;
    }
    changed.add(id);
    if (before !== undefined) ended.set(record, [...(ended.get(record) ?? []), id]);
    if (after !== undefined)
      opened.push({
        package: id,
        feed: record.feed,
        record: record.id,
        change: record.change,
        modified: record.modified,
        opened: nowMs,
        since: before?.since ?? nowMs,
        closed: null,
        reason_opened: reason,
        reason_closed: "",
        ...after,
      });
  }
  for (const [record, packages] of ended) await close(tx, record, packages, nowMs);
  for (let at = 0; at < opened.length; at += ROWS)
    await tx
      .insertInto("package_findings")
      .values(opened.slice(at, at + ROWS))
      .execute();
  await notePackageChanges({ tx, nowMs }, changed);
  return { opened: opened.length, closed: [...ended.values()].flat().length };
}

type Content = Pick<Row<"package_findings">, "state" | "fixed" | "last_affected">;

function contentOf({ state, fixed, lastAffected }: Hit): Content {
  return { state, fixed: JSON.stringify(fixed), last_affected: JSON.stringify(lastAffected) };
}

function isSame(before: Content, after: Content | undefined): boolean {
  return (
    after !== undefined &&
    before.state === after.state &&
    before.fixed === after.fixed &&
    before.last_affected === after.last_affected
  );
}

async function close(
  tx: Database,
  { feed, id, gone }: MatchedRecord,
  packages: readonly string[],
  nowMs: number,
): Promise<void> {
  const reason: CloseReason = gone ?? "CHANGED";
  for (let at = 0; at < packages.length; at += ROWS)
    await tx
      .updateTable("package_findings")
      // A clock that was set back closes nothing before it was opened.
      .set(({ ref, val, eb }) => ({
        closed: eb.case().when("opened", ">", nowMs).then(ref("opened")).else(val(nowMs)).end(),
        reason_closed: reason,
      }))
      .where("package", "in", packages.slice(at, at + ROWS))
      .where("feed", "=", feed)
      .where("record", "=", id)
      .where("closed", "is", null)
      .execute();
}

async function openFindings(tx: Database, pairs: readonly Pair[]): Promise<Map<string, Row<"package_findings">>> {
  const found = new Map<string, Row<"package_findings">>();
  const records = new Set(pairs.map(({ record }) => record));
  const packages = [...new Set(pairs.map((pair) => pair.package))];
  // Matching a change has one record and many packages, matching a package many records and few packages.
  const [only] = records.size === 1 ? records : [];
  for (let at = 0; at < packages.length; at += ROWS) {
    const query = tx
      .selectFrom("package_findings")
      .selectAll()
      .where("package", "in", packages.slice(at, at + ROWS))
      .where("closed", "is", null);
    const rows = await (
      only === undefined ? query : query.where("feed", "=", only.feed).where("record", "=", only.id)
    ).execute();
    for (const row of rows) found.set(pairKey(row.package, row.feed, row.record), row);
  }
  return found;
}

const pairKey = (id: string, feed: string, record: string): string => `${id}\n${feed}\n${record}`;
