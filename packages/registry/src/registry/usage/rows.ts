import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GroupUsageSchema } from "@moorage/api/messages";
import { type Database, statement } from "@moorage/kernel/store";
import type { Coverage } from "@moorage/kernel/work";
import { dayOf, startOf } from "@moorage/kernel/lib/days";
import type { Period } from "./periods.ts";

/** A group whose usage is shown. */
export interface UsedGroup {
  uid: string;
  name: string;
  /** JSON text. */
  cost_labels: string;
}

interface Measured {
  day: number;
  bytes: number;
  at_least: number;
}

const selectMeasured = statement<Measured>(
  "select day, bytes, at_least from usage_days where grp = ? and day >= ? and day < ? order by day",
);
const selectBefore = statement<Measured>(
  "select day, bytes, at_least from usage_days where grp = ? and day < ? order by day desc limit 1",
);
const selectTraffic = statement<{ day: number; count: number; bytes: number }>(
  "select day, sum(count) as count, sum(bytes) as bytes from pull_days where repo >= ? and repo < ? and day >= ? and day < ? group by day order by day",
);
const selectGaps = statement<{ day: number }>("select day from pull_gaps where day >= ? and day < ? order by day");

/** The usage of a group in these periods, the earliest first. */
export async function usageOf(
  db: Database,
  { uid, name, cost_labels: labels }: UsedGroup,
  periods: readonly Period[],
  coverage: Coverage,
): Promise<MessageInitShape<typeof GroupUsageSchema>[]> {
  const firstDay = periods[0]?.firstDay ?? 0;
  const endDay = periods.at(-1)?.endDay ?? 0;
  const measured = [...(await selectBefore(db, uid, firstDay)), ...(await selectMeasured(db, uid, firstDay, endDay))];
  const traffic = await selectTraffic(db, uid, `${uid}0`, firstDay, endDay);
  const gaps = await selectGaps(db, firstDay, endDay);
  const costLabels = JSON.parse(labels) as Record<string, string>;
  return periods.map((period) => {
    const isIn = ({ day }: { day: number }): boolean => Number(day) >= period.firstDay && Number(day) < period.endDay;
    const last = measured.findLast(isIn);
    const before = measured.findLast(({ day }) => Number(day) < period.firstDay);
    const isExact = last !== undefined && before !== undefined && !isBound(last) && !isBound(before);
    const pulled = traffic.filter(isIn);
    const sinceMs = coverage.sinceMs ?? Infinity;
    // Of before the coverage some may be known: then it is shown, and not as all.
    const isKnown = sinceMs < startOf(period.endDay) || pulled.length > 0;
    return {
      groupUid: uid,
      name,
      period: period.text,
      ...(last !== undefined && { bytes: BigInt(last.bytes), bytesAtLeast: isBound(last) }),
      ...(isExact && { growth: BigInt(last.bytes) - BigInt(before.bytes) }),
      ...(isKnown && { pulls: sumOf(pulled, "count"), trafficBytes: sumOf(pulled, "bytes") }),
      incomplete: isKnown && (dayOf(Math.min(sinceMs, MAX_MS)) >= period.firstDay || gaps.some(isIn)),
      costLabels,
    };
  });
}

const MAX_MS = 8_640_000_000_000_000;

function isBound({ at_least: atLeast }: Measured): boolean {
  return Number(atLeast) === 1;
}

function sumOf<K extends string>(rows: readonly Record<K, number>[], key: K): bigint {
  return rows.reduce((sum, row) => sum + BigInt(row[key]), 0n);
}
