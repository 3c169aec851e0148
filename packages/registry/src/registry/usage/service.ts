import { setImmediate } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type GroupUsageSchema,
  type ListUsageRequest,
  ListUsageRequestSchema,
  UsageFormat,
  UsagePeriod,
  UsageService,
} from "@moorage/api/messages";
import { sql } from "kysely";
import { neededFor } from "@moorage/kernel/aip/access";
import { openPosition, pagedBy, sealPosition } from "@moorage/kernel/aip/positions";
import { scopeOf, within } from "@moorage/kernel/aip/scope";
import { timeViolations } from "@moorage/kernel/aip/times";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { invalidArgument } from "@moorage/kernel/errors";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { coverageMessage } from "@moorage/kernel/aip/coverage-message";
import { pullCoverage } from "../pulls/coverage.ts";
import { type Cell, csvOf } from "../pulls/csv.ts";
import { dayOf, startOf } from "@moorage/kernel/lib/days";
import { countRows } from "../pulls/sums.ts";
import { firstOfMonth, type Period, periodsBetween } from "./periods.ts";
import { reportUsage } from "./report.ts";
import { type UsedGroup, usageOf } from "./rows.ts";

const NEEDS = neededFor(UsageService.method.listUsage);
const DEFAULT_SIZE = 50;
const MAX_SIZE = 200;
/** A page ends after the group in which it has read so many sums of pulls. */
const ROWS_PER_PAGE = 500_000;
const MAX_PERIODS = { day: 92, month: 36 } as const;
const DEFAULT_DAYS = 30;
const DEFAULT_MONTHS = 12;
const HEADER = ["group_uid", "group", "period", "bytes", "bytes_at_least", "growth", "pulls", "traffic_bytes"];

type GroupUsage = MessageInitShape<typeof GroupUsageSchema>;

/** What groups take up and transfer. */
export function usageService({ pageTokenKey }: ServiceContext): Service<typeof UsageService> {
  return {
    async listUsage(call, request) {
      const periods = periodsOf(request, call.nowMs);
      const paged = pagedBy(ListUsageRequestSchema, request, "uidp, time or form");
      const after = String(openPosition(call, pageTokenKey, paged, request.pageToken)?.[0] ?? "");
      const size = Math.min(request.pageSize || DEFAULT_SIZE, MAX_SIZE);
      const groups = await usedGroups(call, request, after, size + 1);
      const coverage = await pullCoverage(call.tx);
      const usage: GroupUsage[] = [];
      let [done, rows] = [0, 0];
      for (const group of groups.slice(0, size)) {
        if (rows >= ROWS_PER_PAGE) break;
        const days = [sql`t.day >= ${periods[0]?.firstDay ?? 0}`, sql`t.day < ${periods.at(-1)?.endDay ?? 0}`];
        rows += await countRows(call.tx, [within([group.uid], sql`t.repo`), ...days], ROWS_PER_PAGE);
        call.weigh(rows);
        usage.push(...(await usageOf(call.tx, group, periods, coverage)));
        done += 1;
        // SQLite answers without a pause: other calls get their turn here.
        await setImmediate();
        call.requireCaller();
      }
      const last = done < groups.length ? groups[done - 1] : undefined;
      const nextPageToken = last === undefined ? "" : sealPosition(call, pageTokenKey, paged, [last.uid]);
      const form = request.format === UsageFormat.CSV ? { csv: csvOfUsage(usage) } : { usage };
      return { ...form, nextPageToken, coverage: coverageMessage(coverage) };
    },
    reportUsage,
  };
}

function periodsOf(request: ListUsageRequest, nowMs: number): Period[] {
  const { uidp, period, pageSize, startTime, endTime } = request;
  const isMonthly = period !== UsagePeriod.DAY;
  const endMs = endTime === undefined ? nowMs : milliseconds(endTime);
  const earliest = isMonthly ? firstOfMonth(endMs, 1 - DEFAULT_MONTHS) : dayOf(endMs) + 1 - DEFAULT_DAYS;
  const startMs = startTime === undefined ? startOf(earliest) : milliseconds(startTime);
  const max = isMonthly ? MAX_PERIODS.month : MAX_PERIODS.day;
  const periods = periodsBetween(isMonthly, startMs, endMs, max + 1);
  const violations = [
    ...timeViolations({ start_time: startTime, end_time: endTime }),
    ...(uidp !== undefined && (uidp.ancestorsOf !== "" || uidp.childrenOf !== "" || uidp.inRoot || uidp.ids.length > 0)
      ? [{ field: "uidp", description: "only descendants_of is taken here" }]
      : []),
    ...(pageSize < 0 ? [{ field: "page_size", description: "must not be negative" }] : []),
    ...(periods.length > max ? [{ field: "start_time", description: `at most ${max} periods are answered` }] : []),
  ];
  if (violations.length > 0) throw invalidArgument(...violations);
  return periods;
}

/** The first groups after a uid: the named one and those directly below it, or the outermost visible ones. */
async function usedGroups(call: Call, { uidp }: ListUsageRequest, after: string, limit: number): Promise<UsedGroup[]> {
  const above = uidp?.descendantsOf ?? "";
  const { roots } = scopeOf(uidp, await call.visible(...NEEDS));
  const named = above !== "" && roots.length === 1 && roots[0] === above;
  const found = call.tx
    .selectFrom("groups")
    .select(["uid", "name", "cost_labels"])
    .where("uid", ">", after)
    .orderBy("uid")
    .limit(limit);
  if (named)
    return await found.where((where) => where.or([where("uid", "=", above), where("parent", "=", above)])).execute();
  const uids = roots
    .filter((uid) => uid > after)
    .toSorted()
    .slice(0, limit);
  return uids.length === 0 ? [] : await found.where("uid", "in", uids).execute();
}

/** The labels of a group are columns by themselves, since each group may have others. */
function csvOfUsage(usage: readonly GroupUsage[]): string {
  const labels = [...new Set(usage.flatMap(({ costLabels = {} }) => Object.keys(costLabels)))].toSorted();
  const rows = usage.map((row): Cell[] => [
    row.groupUid,
    row.name,
    row.period,
    row.bytes,
    row.bytesAtLeast === true,
    row.growth,
    row.pulls,
    row.trafficBytes,
    row.incomplete === true,
    ...labels.map((label) => row.costLabels?.[label]),
  ]);
  return csvOf([...HEADER, "incomplete", ...labels.map((label) => `label:${label}`)], rows);
}
