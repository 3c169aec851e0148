import { ReviewState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { Database, Row } from "@moorage/kernel/store";
import { noteAdvisoryChange } from "../causes/causes.ts";
import { LOCATION_CHANGED } from "./location-changes.ts";
import { folded } from "./lookups.ts";

type DecisionRow = Row<"advisory_decisions">;
type Said = Omit<DecisionRow, "advisory" | "from_time" | "until_time">;

/** The most decisions of an advisory that are kept after they ended. */
const MAX_ENDED = 200;

/**
 * Notes what the advisory says now by its latest approved event, if that is something else than before. What it said
 * before stays with its times, so that findings can be read as of a time. A deleted advisory says nothing.
 */
export async function noteDecision(call: Pick<Call, "tx" | "nowMs" | "wake">, advisory: string): Promise<void> {
  const { tx, nowMs } = call;
  const known = await tx
    .selectFrom("advisory_decisions")
    .selectAll()
    .where("advisory", "=", advisory)
    .orderBy("from_time", "desc")
    .execute();
  const [last] = known;
  const open = last?.until_time === null ? last : undefined;
  const next = await currentDecision(tx, advisory);
  const ids = open === undefined ? [] : await idsOf(tx, open);
  if (open !== undefined && next !== undefined && isSame(open, ids, next)) return;
  if (open === undefined && next === undefined) return;
  await noteAdvisoryChange(call, parentOf(advisory), [...new Set([...ids, ...(next?.ids ?? [])])]);
  // The times of one advisory never overlap, whatever the clock does.
  const fromMs = Math.max(nowMs, (last?.from_time ?? 0) + 1, last?.until_time ?? 0);
  if (open !== undefined)
    await tx
      .updateTable("advisory_decisions")
      .set({ until_time: fromMs })
      .where("advisory", "=", advisory)
      .where("from_time", "=", open.from_time)
      .execute();
  for (const { from_time: time } of known.slice(MAX_ENDED)) await removeDecision(tx, advisory, time);
  if (next === undefined) return;
  await tx
    .insertInto("advisory_decisions")
    .values({ advisory, from_time: fromMs, until_time: null, ...next.said })
    .execute();
  await tx
    .insertInto("advisory_decision_ids")
    .values(next.ids.map((alias) => ({ parent: parentOf(advisory), alias, advisory, from_time: fromMs })))
    .execute();
}

async function currentDecision(tx: Database, uid: string): Promise<{ said: Said; ids: string[] } | undefined> {
  const row = await tx
    .selectFrom("advisories as a")
    .innerJoin("advisory_events as e", "e.parent", "a.uid")
    .select([
      "e.uid as event",
      "e.create_time as event_time",
      "e.type",
      "e.content",
      "a.advisory_id",
      "a.artifact_name",
      "a.artifact_type",
      "a.artifact_architecture",
      "a.component_name",
      "a.component_location",
      "a.component_type",
      "a.aliases",
    ])
    .where("a.uid", "=", uid)
    .where("a.delete_time", "is", null)
    .where("e.review_state", "=", ReviewState.APPROVED)
    .where("e.type", "!=", LOCATION_CHANGED)
    .orderBy("e.create_time", "desc")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { aliases, ...said } = row;
  return { said, ids: [...new Set((JSON.parse(aliases) as string[]).map(folded))].sort() };
}

function isSame(
  before: DecisionRow,
  ids: readonly string[],
  { said, ids: now }: { said: Said; ids: string[] },
): boolean {
  return (
    ids.join("\n") === now.join("\n") &&
    (Object.keys(said) as (keyof Said)[]).every((column) => before[column] === said[column])
  );
}

async function idsOf(tx: Database, { advisory, from_time: time }: DecisionRow): Promise<string[]> {
  const rows = await tx
    .selectFrom("advisory_decision_ids")
    .select("alias")
    .where("advisory", "=", advisory)
    .where("from_time", "=", time)
    .execute();
  return rows.map(({ alias }) => alias).sort();
}

async function removeDecision(tx: Database, advisory: string, time: number): Promise<void> {
  for (const table of ["advisory_decisions", "advisory_decision_ids"] as const)
    await tx.deleteFrom(table).where("advisory", "=", advisory).where("from_time", "=", time).execute();
}
