import type { GroupStorage, GroupUsage } from "../../../api/gen/registry.ts";

/** The numbers of a row that can be added up. */
type Summed = "blobBytes" | "libraryBytes" | "libraries" | "repos" | "tags" | "manifests" | "manifestBytes";

/** The sum over rows. Content that several of them have counts in each. */
export function sumOf(rows: readonly GroupStorage[], field: Summed): number {
  return rows.reduce((sum, row) => sum + Number(row[field]), 0);
}

/**
 * Bytes of the rows that another row has as well. Undefined where that is not counted: beyond the rows of one group,
 * which begin with the group's own images.
 */
export function sharedOf(rows: readonly GroupStorage[]): number | undefined {
  if (!rows.some(({ own }) => own)) return undefined;
  return rows.reduce((sum, { sharedBytes }) => sum + Number(sharedBytes), 0);
}

/** What was stored at the end of a day. */
export interface StoredDay {
  day: string;
  /** Undefined: not measured that day. */
  bytes: number | undefined;
  /** Whether it may be more: a group has more content than was counted, or was not measured. */
  isPartial: boolean;
}

/** What groups took up by day, summed, the earliest day first. `isWhole`: whether these are the rows of all of them. */
export function storedDays(rows: readonly GroupUsage[], isWhole = true): StoredDay[] {
  const days = new Map<string, StoredDay>();
  const unmeasured = new Set<string>();
  for (const { period, bytes, bytesAtLeast } of rows) {
    const { bytes: before, isPartial } = days.get(period) ?? { bytes: undefined, isPartial: !isWhole };
    if (bytes === undefined) unmeasured.add(period);
    const sum = bytes === undefined ? before : (before ?? 0) + Number(bytes);
    days.set(period, { day: period, bytes: sum, isPartial: isPartial || bytesAtLeast });
  }
  return [...days.values()]
    .map((each) => (unmeasured.has(each.day) ? { ...each, isPartial: true } : each))
    .toSorted((one, other) => (one.day < other.day ? -1 : 1));
}

/** By how much it grew from the first exact day to the last one; undefined without two of them. */
export function growthOf(days: readonly StoredDay[]): { bytes: number; since: string } | undefined {
  const exact = days.filter(({ bytes, isPartial }) => bytes !== undefined && !isPartial);
  const [first, last] = [exact[0], exact.at(-1)];
  if (first === undefined || last === undefined || first === last) return undefined;
  return { bytes: (last.bytes ?? 0) - (first.bytes ?? 0), since: first.day };
}
