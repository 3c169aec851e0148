import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, select, takeAdvisoryLock } from "@moorage/kernel/store";
import { CATALOGING } from "../catalog/command-options.ts";
import { MATCHED_FORMATS } from "../matching/record-affects.ts";
import { BATCH_BYTES, type MatchingStep } from "./match-packages.ts";
import { changesOfStatements, restateRecord } from "../trusted/restate.ts";
import { noteRestated } from "../trusted/restate-feeds.ts";
import { costOf, headsAfter, type MatchedRecord, type RecordHead, recordOf } from "./records.ts";
import { readState, writeState } from "../causes/matching-state.ts";
import { lookupsByPackage, writeFindings } from "./write.ts";

// Changes that one transaction looks at, and packages that it compares with them.
const BATCH_CHANGES = 500;
const BATCH_PACKAGES = 300;
// Rows per statement, below the parameter limit of every engine.
const ROWS = 400;

/**
 * Where the comparison of one change ended: first come the packages under each of its keys, then (with an empty key)
 * those with a finding of the record, which may not affect them any more.
 */
type Position = [change: number, phase: "keys" | "findings", key: string, id: string];

/**
 * Compares the next records that changed with the packages that have their keys, and with those that have findings of
 * them; of feeds of VEX documents, takes over what they say. Numbers of changes are committed in their order
 * (docs/adr/0016), so that none is missed.
 */
export const matchChanges = command(
  "security.matchChanges",
  async (call: Call): Promise<MatchingStep> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "catalogs");
    const { value, position } = await readState(tx, "changes");
    const heads = await headsAfter(tx, value, BATCH_CHANGES);
    const last = heads.at(-1);
    if (last === undefined) return { opened: 0, closed: 0, isDone: true };
    const concerned = await changesOfPackages(tx, value, last.change);
    const stated = await changesOfStatements(tx, value, last.change);
    let isRestated = false;
    const done = { opened: 0, closed: 0 };
    const budget = { packages: BATCH_PACKAGES, bytes: BATCH_BYTES };
    let begun = position === "" ? undefined : (JSON.parse(position) as Position);
    let reached = last.change;
    let rest = "";
    for (const head of heads.filter(({ change }) => concerned.has(change) || stated.has(change))) {
      const cost = costOf(head);
      if (budget.packages <= 0 || (budget.bytes < BATCH_BYTES && budget.bytes < cost)) {
        reached = head.change - 1;
        break;
      }
      budget.bytes -= cost;
      if (stated.has(head.change) && (await restateRecord(call, head))) isRestated = true;
      if (!concerned.has(head.change)) continue;
      const from: Position = begun?.[0] === head.change ? begun : [head.change, "keys", "", ""];
      begun = undefined;
      const next = await matchChange(call, head, from, budget, done);
      if (next === undefined) continue;
      reached = head.change - 1;
      rest = JSON.stringify(next);
      break;
    }
    await writeState(tx, "changes", { value: reached, position: rest });
    if (isRestated) await noteRestated(call);
    return { ...done, isDone: reached === last.change && rest === "" && heads.length < BATCH_CHANGES };
  },
  CATALOGING,
);

/** Those of the changes that have to do with a package that an image holds. Most have not. */
async function changesOfPackages(tx: Database, after: number, last: number): Promise<ReadonlySet<number>> {
  const rows = await select<{ change: number }>(
    tx,
    `select r.change from feed_records as r where r.change > ? and r.change <= ?
     and r.feed not in (select name from feeds where format not in (${MATCHED_FORMATS.map(() => "?").join(", ")}))
     and (exists (select 1 from feed_keys as f join package_keys as k on k.key = f.key where f.feed = r.feed and f.record = r.id and f.kind = 'package')
       or exists (select 1 from package_findings as p where p.feed = r.feed and p.record = r.id and p.closed is null))`,
    [after, last, ...MATCHED_FORMATS],
  );
  return new Set(rows.map(({ change }) => change));
}

/** Goes on with a change. Answers where to go on in another transaction; undefined when the change is done. */
async function matchChange(
  call: Call,
  head: RecordHead,
  [, phase, key, after]: Position,
  budget: { packages: number },
  done: { opened: number; closed: number },
): Promise<Position | undefined> {
  const { tx } = call;
  const record = await recordOf(tx, head);
  // It has changed again meanwhile: then it has a later number.
  if (record === undefined) return undefined;
  const compared = new Set<string>();
  const compare = async (packages: string[]): Promise<void> => {
    for (const each of packages) compared.add(each);
    const pairs = packages.map((id) => ({ package: id, record }));
    const written = await writeFindings(call, pairs, await lookupsByPackage(tx, packages), "RECORD");
    budget.packages -= packages.length;
    done.opened += written.opened;
    done.closed += written.closed;
  };
  if (phase === "keys")
    for (const each of (await keysInUse(tx, record)).filter((one) => one >= key))
      for (let from = each === key ? after : ""; ;) {
        if (budget.packages <= 0) return [head.change, "keys", each, from];
        const packages = await packagesUnder(tx, each, from, budget.packages);
        const last = packages.at(-1);
        if (last === undefined) break;
        await compare(packages);
        from = last;
      }
  for (let from = phase === "findings" ? after : ""; ;) {
    if (budget.packages <= 0) return [head.change, "findings", "", from];
    const packages = await packagesWithFindings(tx, record, from, budget.packages);
    const last = packages.at(-1);
    if (last === undefined) return undefined;
    // Those under its keys were compared just now, and most have a finding for that.
    const others = packages.filter((each) => !compared.has(each));
    if (others.length > 0) await compare(others);
    from = last;
  }
}

/** The keys of the record that packages have, in their order. */
async function keysInUse(tx: Database, { affects }: MatchedRecord): Promise<string[]> {
  const keys = [...affects.keys()];
  const found: string[] = [];
  for (let at = 0; at < keys.length; at += ROWS)
    for (const row of await tx
      .selectFrom("package_keys")
      .select("key")
      .distinct()
      .where("key", "in", keys.slice(at, at + ROWS))
      .execute())
      found.push(row.key);
  return found.sort();
}

async function packagesUnder(tx: Database, key: string, after: string, limit: number): Promise<string[]> {
  const rows = await tx
    .selectFrom("package_keys")
    .select("package")
    .where("key", "=", key)
    .where("package", ">", after)
    .orderBy("package")
    .limit(limit)
    .execute();
  return rows.map((row) => row.package);
}

async function packagesWithFindings(
  tx: Database,
  { feed, id }: MatchedRecord,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await tx
    .selectFrom("package_findings")
    .select("package")
    .where("feed", "=", feed)
    .where("record", "=", id)
    .where("closed", "is", null)
    .where("package", ">", after)
    .orderBy("package")
    .limit(limit)
    .execute();
  return rows.map((row) => row.package);
}
