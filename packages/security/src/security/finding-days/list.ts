import type { MessageInitShape } from "@bufbuild/protobuf";
import { type FindingDaySchema, FindingsService, type ListFindingDaysRequest } from "@moorage/api/messages";
import { neededFor } from "@moorage/kernel/aip/access";
import { scopeOf } from "@moorage/kernel/aip/scope";
import { timeViolations } from "@moorage/kernel/aip/times";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument } from "@moorage/kernel/errors";
import { milliseconds, timestamp } from "@moorage/kernel/lib/timestamps";
import { type Database, select } from "@moorage/kernel/store";
import { marks } from "../marks.ts";
import type { SeverityCounts } from "../records/severities.ts";
import { DAY_MS } from "./day.ts";
import { SEVERITY_COLUMNS } from "./sums.ts";

type FindingDay = MessageInitShape<typeof FindingDaySchema>;

/** The sums of the groups that were counted on a day. */
interface SumRow extends SeverityCounts {
  day: number;
  counted: number;
  unknown_images: number;
  at_least: number;
  time: number;
}

const NEEDS = neededFor(FindingsService.method.listFindingDays);
const DEFAULT_DAYS = 90;
const MAX_DAYS = 400;
/** Of so many groups the sums are answered; those of more are lower bounds. */
const MAX_GROUPS = 500;

/** What was open at the end of each day that the request asks for, the earliest first. */
export async function listFindingDays(call: Call, request: ListFindingDaysRequest): Promise<FindingDay[]> {
  const { firstDay, lastDay } = daysOf(request, call.nowMs);
  const { roots } = scopeOf(request.uidp, await call.visible(...NEEDS));
  const groups = roots.toSorted().slice(0, MAX_GROUPS);
  if (groups.length === 0) return days(firstDay, lastDay).map((day) => ({ day: textOf(day) }));
  const sums = await sumsOf(call.tx, groups, firstDay, lastDay);
  const made = await select<{ time: number }>(
    call.tx,
    `select create_time as time from groups where uid in (${marks(groups)})`,
    groups,
  );
  return days(firstDay, lastDay).map((day) => {
    const row = sums.get(day);
    if (row === undefined) return { day: textOf(day) };
    const expected = made.filter(({ time }) => Number(time) < (day + 1) * DAY_MS).length;
    return {
      day: textOf(day),
      open: Object.fromEntries(SEVERITY_COLUMNS.map((name) => [name, BigInt(row[name])])),
      countTime: timestamp(Number(row.time)),
      unknownImages: Number(row.unknown_images),
      unknownAtLeast: Number(row.at_least) === 1,
      incomplete: Number(row.counted) < expected || roots.length > groups.length,
    };
  });
}

async function sumsOf(
  tx: Database,
  groups: readonly string[],
  firstDay: number,
  lastDay: number,
): Promise<Map<number, SumRow>> {
  const sums = SEVERITY_COLUMNS.map((name) => `sum(${name}) as ${name}`).join(", ");
  const rows = await select<SumRow>(
    tx,
    `select day, ${sums}, count(*) as counted, sum(unknown_images) as unknown_images, max(at_least) as at_least, min(time) as time
     from finding_days where grp in (${marks(groups)}) and day >= ? and day <= ? group by day`,
    [...groups, firstDay, lastDay],
  );
  return new Map(rows.map((row) => [Number(row.day), row]));
}

/** Days are since 1970. Throws INVALID_ARGUMENT for more than an answer has. */
function daysOf({ uidp, startTime, endTime }: ListFindingDaysRequest, nowMs: number) {
  const lastDay = dayOf(endTime === undefined ? nowMs : milliseconds(endTime));
  const firstDay = startTime === undefined ? lastDay + 1 - DEFAULT_DAYS : dayOf(milliseconds(startTime));
  const violations = [
    ...timeViolations({ start_time: startTime, end_time: endTime }),
    ...(uidp !== undefined && (uidp.ancestorsOf !== "" || uidp.childrenOf !== "" || uidp.inRoot || uidp.ids.length > 0)
      ? [{ field: "uidp", description: "only descendants_of is taken here" }]
      : []),
    ...(lastDay - firstDay >= MAX_DAYS
      ? [{ field: "start_time", description: `at most ${MAX_DAYS} days are answered` }]
      : []),
  ];
  if (violations.length > 0) throw invalidArgument(...violations);
  return { firstDay, lastDay };
}

const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** As `2026-11-27`. */
const textOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, "2026-11-27".length);

const days = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
