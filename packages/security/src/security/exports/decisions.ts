import { type AdvisoryEvent, ReviewState } from "@moorage/api/messages";
import { sql } from "kysely";
import { within } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { failedPrecondition } from "@moorage/kernel/errors";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import type { Row } from "@moorage/kernel/store";
import { eventsByAdvisory } from "../advisories/events.ts";

/** What a group decided about one vulnerability in one component of one artifact. */
export interface Decision {
  advisory: Row<"advisories">;
  aliases: string[];
  /** The latest approved event. */
  event: AdvisoryEvent;
  /** Of that event, in milliseconds since 1970. */
  timeMs: number;
}

/** The decisions of a group and of those below it. */
export interface Decisions {
  group: string;
  /** In the order of the advisories' ids. */
  list: Decision[];
  /** When an advisory, a deleted one as well, or an event was last changed, in milliseconds since 1970. */
  changedMs: number;
}

const MAX_DECISIONS = 5_000;
const ADVISORIES_AT_ONCE = 500;
/** Its events are read as well, and their notes may be long. */
const ROWS_A_DECISION = 5;

/** Throws FAILED_PRECONDITION when there are more than a document holds, or none at all. */
export async function decisionsOf({ tx, weigh }: Pick<Call, "tx" | "weigh">, group: string): Promise<Decisions> {
  const here = within([group]);
  const counted = await sql<{ n: number | string }>`select count(*) as n from (select 1 from advisories as t
    where ${here} and t.delete_time is null and t.latest_type <> 0 limit ${MAX_DECISIONS + 1}) as found`.execute(tx);
  const count = Number(counted.rows[0]?.n ?? 0);
  weigh(count * ROWS_A_DECISION);
  if (count > MAX_DECISIONS)
    throw rejected(group, "TOO_MANY_ADVISORIES", `has more than ${MAX_DECISIONS} advisories: ask for a group below it`);
  const { rows } = await sql<Row<"advisories">>`select t.* from advisories as t
    where ${here} and t.delete_time is null and t.latest_type <> 0
    order by t.advisory_id limit ${MAX_DECISIONS}`.execute(tx);
  if (rows.length === 0) throw rejected(group, "NO_DECISIONS", "has no advisory with an approved event");
  const changed = await sql<{
    ms: number | string;
  }>`select max(t.update_time) as ms from advisories as t where ${here}`.execute(tx);
  const list: Decision[] = [];
  for (let at = 0; at < rows.length; at += ADVISORIES_AT_ONCE) {
    const part = rows.slice(at, at + ADVISORIES_AT_ONCE);
    const events = await eventsByAdvisory(
      tx,
      part.map(({ uid }) => uid),
    );
    for (const advisory of part) {
      const event = events.get(advisory.uid)?.findLast(({ reviewState }) => reviewState === ReviewState.APPROVED);
      if (event?.createTime === undefined) continue;
      list.push({ advisory, aliases: idsOfAdvisory(advisory), event, timeMs: milliseconds(event.createTime) });
    }
  }
  return { group, list, changedMs: Number(changed.rows[0]?.ms ?? 0) };
}

function rejected(group: string, type: string, description: string): Error {
  return failedPrecondition({ type, subject: group, description: `the group ${description}` });
}

/** The ids of the vulnerability, CVEs first. */
export function idsOfAdvisory({ aliases }: Pick<Row<"advisories">, "aliases">): string[] {
  return (JSON.parse(aliases) as string[]).map(asCve).toSorted(cveFirst);
}

/** Advisories have ids in upper or lower case; formats want a CVE in upper case. */
function asCve(id: string): string {
  return /^cve-/i.test(id) ? id.toUpperCase() : id;
}

/** The CVE is the name of a vulnerability that most tools know. */
function cveFirst(a: string, b: string): number {
  return Number(b.startsWith("CVE-")) - Number(a.startsWith("CVE-"));
}
