import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, type Row, select, takeAdvisoryLock } from "@moorage/kernel/store";
import { CATALOGING } from "../catalog/command-options.ts";
import { lookupsOf } from "../matching/package-keys.ts";
import { costOf, headsOf, recordKey, recordOf } from "./records.ts";
import { readState, writeState } from "../causes/matching-state.ts";
import { lookupsByPackage, type Pair, writeFindings } from "./write.ts";
import { componentOf } from "../matching/image-component.ts";

const BATCH_PACKAGES = 100;
const BATCH_PAIRS = 1_000;

/** The content of records that one transaction reads, in bytes; one record may be larger. */
export const BATCH_BYTES = 512 << 10;

/** What one step did. `isDone`: it did all that there was. */
export interface MatchingStep {
  opened: number;
  closed: number;
  isDone: boolean;
}

/** A package that has more records than one transaction compares it with, and the last that it was compared with. */
type Position = [id: string, feed: string, record: string];

interface PairRow {
  package: string;
  feed: string;
  record: string;
}

/**
 * Compares the next packages that are new with all records. A package gets its keys in the same transaction, so that a
 * record that is committed later finds it by them; until it was compared with all records of before, it stays
 * unmatched.
 */
export const matchPackages = command(
  "security.matchPackages",
  async (call: Call): Promise<MatchingStep> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "catalogs");
    const { position } = await readState(tx, "packages");
    const [from, feed, record] = (position === "" ? ["", "", ""] : JSON.parse(position)) as Position;
    const packages = await unmatched(tx, from);
    if (packages.length === 0) return { opened: 0, closed: 0, isDone: true };
    await addKeys(tx, packages);
    const ids = packages.map(({ id }) => id).toSorted();
    const after: Position = ids[0] === from && ids.length === 1 ? [from, feed, record] : ["", "", ""];
    const { pairs, rest } = await pairsOf(tx, ids, after);
    const written = await writeFindings(call, pairs, await lookupsByPackage(tx, ids), "PACKAGE");
    const done = rest === undefined ? ids : ids.filter((id) => id < rest[0]);
    if (done.length > 0)
      await tx.updateTable("packages").set({ matched: call.nowMs }).where("id", "in", done).execute();
    // A package that is not done goes first, from where its comparison ended.
    const next = rest === undefined || rest[1] === "" ? "" : JSON.stringify(rest);
    if (next !== position) await writeState(tx, "packages", { value: 0, position: next });
    return { ...written, isDone: rest === undefined && from === "" && packages.length < BATCH_PACKAGES };
  },
  CATALOGING,
);

type PackageRow = Row<"packages">;

/** The next packages: the one whose comparison has begun alone, if it is still there. */
async function unmatched(tx: Database, begun: string): Promise<PackageRow[]> {
  const query = tx.selectFrom("packages").selectAll().where("matched", "is", null);
  const first = begun === "" ? [] : await query.where("id", "=", begun).execute();
  return first.length > 0 ? first : await query.orderBy("id").limit(BATCH_PACKAGES).execute();
}

async function addKeys(tx: Database, packages: readonly PackageRow[]): Promise<void> {
  const rows = packages.flatMap((row) => {
    const component = componentOf(row);
    const lookups = component === undefined ? [] : lookupsOf(component);
    // One key cannot have two versions of a package.
    return [...new Map(lookups.map(({ key, version }) => [key, { key, package: row.id, version }])).values()];
  });
  if (rows.length === 0) return;
  await tx
    .insertInto("package_keys")
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * The pairs of these packages with records after a position, as many as one transaction may compare. `rest`: the last
 * of them when there are more, or the first package of which none was compared, without a record.
 */
async function pairsOf(
  tx: Database,
  ids: readonly string[],
  after: Position,
): Promise<{ pairs: Pair[]; rest?: Position }> {
  const rows = await select<PairRow>(
    tx,
    `select distinct k.package, f.feed, f.record from package_keys as k join feed_keys as f on f.kind = 'package' and f.key = k.key
     where k.package in (${ids.map(() => "?").join(", ")}) and (k.package, f.feed, f.record) > (?, ?, ?)
     order by k.package, f.feed, f.record limit ${BATCH_PAIRS + 1}`,
    [...ids, ...after],
  );
  const heads = await headsOf(
    tx,
    rows.map(({ feed, record: id }) => ({ feed, id })),
  );
  const pairs: Pair[] = [];
  let bytes = 0;
  let last: Position = ["", "", ""];
  for (const [at, { package: id, feed, record }] of rows.entries()) {
    const head = heads.get(recordKey({ feed, id: record }));
    const cost = head === undefined ? 0 : costOf(head);
    if (at === BATCH_PAIRS || (at > 0 && bytes + cost > BATCH_BYTES))
      return { pairs, rest: last[0] === id ? last : [id, "", ""] };
    bytes += cost;
    last = [id, feed, record];
    const read = head === undefined ? undefined : await recordOf(tx, head);
    if (read !== undefined) pairs.push({ package: id, record: read });
  }
  return { pairs };
}
