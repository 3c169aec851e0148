import { type AdvisoryEvent, EventTypeFilter, ReviewState, type Severity } from "@moorage/api/messages";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import type { Database, Row } from "@moorage/kernel/store";
import { eventsByAdvisory } from "../advisories/events.ts";
import { advisories } from "../advisories/rows.ts";

/** What an advisory says by its latest approved event, where that resolves the vulnerability. */
export interface Decided {
  advisory: Row<"advisories">;
  aliases: string[];
  severities: Severity[];
  /** The version that ends it; undefined for a false positive. */
  fixedVersion: string | undefined;
  /** Of that event, in milliseconds since 1970. */
  timeMs: number;
}

const RESOLVING = [EventTypeFilter.FIXED, EventTypeFilter.FALSE_POSITIVE_DETERMINATION];
const AT_ONCE = 500;

/** The advisories of a group that resolve a vulnerability, in batches. */
export async function* decidedIn(db: Database, group: string): AsyncGenerator<Decided[]> {
  for (let after = { createTime: -1, uid: "" }; ;) {
    const rows = await db
      .selectFrom("advisories")
      .selectAll()
      .where("parent", "=", group)
      .where(({ eb, refTuple, tuple }) => eb(refTuple("create_time", "uid"), ">", tuple(after.createTime, after.uid)))
      .where("latest_type", "in", RESOLVING)
      .where("delete_time", "is", null)
      .orderBy("create_time")
      .orderBy("uid")
      .limit(AT_ONCE)
      .execute();
    const events = await eventsByAdvisory(
      db,
      rows.map(({ uid }) => uid),
    );
    yield rows.flatMap((row) => {
      const latest = events.get(row.uid)?.findLast(({ reviewState }) => reviewState === ReviewState.APPROVED);
      const decided = latest === undefined ? undefined : decidedBy(row, latest);
      return decided === undefined ? [] : [decided];
    });
    const last = rows.at(-1);
    if (last === undefined || rows.length < AT_ONCE) return;
    after = { createTime: last.create_time, uid: last.uid };
  }
}

function decidedBy(advisory: Row<"advisories">, { type, createTime }: AdvisoryEvent): Decided | undefined {
  if (createTime === undefined || (type.case !== "fixed" && type.case !== "falsePositiveDetermination"))
    return undefined;
  const { aliases, severities } = advisories.toMessage(advisory);
  const fixedVersion = type.case === "fixed" ? type.value.fixedVersion : undefined;
  return { advisory, aliases, severities, fixedVersion, timeMs: milliseconds(createTime) };
}
