import { compareVersions, compareWithNamed, isVersion, type VersionOrder } from "@moorage/kernel/lib/versions";

/** One event of a range of OSV. */
export interface RangeEvent {
  introduced?: string | undefined;
  fixed?: string | undefined;
  last_affected?: string | undefined;
  limit?: string | undefined;
}

/** `affected[]` of an OSV record, as far as it says which versions are affected. */
export interface Affected {
  ranges?: readonly { type: string; events?: readonly RangeEvent[] | null | undefined }[] | null | undefined;
  versions?: readonly string[] | null | undefined;
}

/** Versions that follow each other: from the first, which is affected, to the fix or the last affected one, or on. */
export interface Interval {
  /** Undefined: from the beginning. */
  from?: string;
  /** The first that is not affected any more. */
  fixed?: string;
  /** The last that is affected. */
  last?: string;
}

/** One range, its intervals in the order of their versions. */
interface CompiledRange {
  intervals: Interval[];
  /** The range says nothing of versions that are not before at least one of these. Absent: of all. */
  limits?: string[];
  /** Fixes that the order cannot read: only just these versions are not affected. Absent: none. */
  fixes?: string[];
}

/** What an `affected[]` says, as plain JSON, to be stored and asked. */
export interface CompiledAffected {
  order: VersionOrder;
  ranges: CompiledRange[];
  versions: string[];
}

/** Whether a version is affected, and where that ends. */
export interface Verdict {
  isAffected: boolean;
  /** The versions that fix it, each later than the one that was asked about, in their order. Empty: none is known. */
  fixed: string[];
  /** The last affected versions, of ranges that end with these in place of a fix, in their order. */
  lastAffected: string[];
}

/**
 * Prepares an `affected[]`. Ranges of type GIT are left out: images do not have commits. Where a range names a version
 * that its order cannot read, it is not known where it begins or ends: all that may lie in it is affected, since a
 * vulnerability that is not shown is worse than one that is shown in vain. An `affected[]` with neither ranges nor
 * versions affects nothing. Source: OSV schema 1.7, "Evaluation".
 */
export function compileAffected(order: VersionOrder, affected: Affected): CompiledAffected {
  const ranges = (affected.ranges ?? [])
    .filter(({ type }) => type === "SEMVER" || type === "ECOSYSTEM")
    .map(({ events }) => rangeOf(order, events ?? []));
  return { order, ranges, versions: [...new Set(affected.versions ?? [])] };
}

/**
 * Whether the version is affected: one of the list `versions`, or in one of the ranges. A version that its order cannot
 * place is only looked for in the list, and in ranges of all versions. Withdrawn records, which affect nothing, are the
 * caller's concern, and so is that the version is written as `lookupsOf` does.
 */
export function isAffected(compiled: CompiledAffected, version: string): Verdict {
  const { order, ranges } = compiled;
  const isPlaced = hasPlace(order, version);
  const hits = ranges
    .filter(({ fixes }) => fixes?.includes(version) !== true)
    .flatMap((range) => (isPlaced ? intervalAt(order, range, version) : wholeOf(range)) ?? []);
  if (hits.length === 0 && !isListed(compiled, version)) return { isAffected: false, fixed: [], lastAffected: [] };
  const ends = hits.length > 0 ? hits : ranges.flatMap(({ intervals }) => intervals);
  const compare = (end: string): number => (isPlaced ? -compareWithNamed(order, version, end) : 1);
  return {
    isAffected: true,
    fixed: sortedFrom(
      order,
      ends.flatMap(({ fixed }) => fixed ?? []),
      (end) => compare(end) > 0,
    ),
    lastAffected: sortedFrom(
      order,
      ends.flatMap(({ last }) => last ?? []),
      (end) => compare(end) >= 0,
    ),
  };
}

/** Whether the list has the version, perhaps written in another way. */
function isListed({ order, versions }: CompiledAffected, version: string): boolean {
  if (versions.includes(version)) return true;
  if (!hasPlace(order, version)) return false;
  return versions.some((each) => compareWithNamed(order, version, each) === 0);
}

/** Texts that are no versions have a place in the orders of ecosystems that once had such, and in no other. */
function hasPlace(order: VersionOrder, version: string): boolean {
  return order === "semver" || order === "pub" ? isVersion(order, version) : version !== "";
}

function sortedFrom(order: VersionOrder, ends: readonly string[], isBehind: (end: string) => boolean): string[] {
  return [...new Set(ends.filter(isBehind))].sort((a, b) => compareVersions(order, a, b));
}

function intervalAt(order: VersionOrder, { intervals, limits }: CompiledRange, version: string): Interval | undefined {
  const isBefore = (other: string): boolean => compareWithNamed(order, version, other) < 0;
  if (limits !== undefined && !limits.some(isBefore)) return undefined;
  return intervals.find(
    ({ from, fixed, last }) =>
      (from === undefined || !isBefore(from)) &&
      (fixed === undefined || isBefore(fixed)) &&
      (last === undefined || compareWithNamed(order, version, last) <= 0),
  );
}

/** The interval of a range that has all versions, whatever they are; undefined without one. */
function wholeOf({ intervals, limits }: CompiledRange): Interval | undefined {
  if (limits !== undefined) return undefined;
  return intervals.find(({ from, fixed, last }) => from === undefined && fixed === undefined && last === undefined);
}

/** Whether the order can read all versions of a range, so that it is known where that begins and ends. */
export function isReadable(order: VersionOrder, { events }: { events?: readonly RangeEvent[] | null | undefined }) {
  const versions = (events ?? []).flatMap((event) => Object.entries(event));
  return versions.every(
    ([name, version]) =>
      (name === "introduced" && version === "0") ||
      (name === "limit" && version === "*") ||
      typeof version !== "string" ||
      isVersion(order, version),
  );
}

/** The events of one version. `introduced: "0"` is before all versions, so it has none. */
interface Step {
  version: string | undefined;
  introduced: boolean;
  fixed: boolean;
  last: boolean;
}

function rangeOf(order: VersionOrder, events: readonly RangeEvent[]): CompiledRange {
  const limits = events.flatMap(({ limit }) => limit ?? []);
  const steps: Step[] = [];
  for (const { introduced, fixed, last_affected: last } of events)
    for (const [name, version] of Object.entries({ introduced, fixed, last }))
      if (version !== undefined)
        steps.push({
          version: name === "introduced" && version === "0" ? undefined : version,
          introduced: name === "introduced",
          fixed: name === "fixed",
          last: name === "last",
        });
  const intervals = readIntervals(order, steps);
  const isLimited = limits.length > 0 && limits.every((limit) => limit !== "*" && isVersion(order, limit));
  const fixes = events.flatMap(({ fixed }) => (fixed === undefined || isVersion(order, fixed) ? [] : fixed));
  return { intervals, ...(isLimited && { limits }), ...(fixes.length > 0 && { fixes }) };
}

/**
 * The intervals between those of the versions that can be read. An end that cannot be is none, so that what is affected
 * goes on to the next one; with a beginning that cannot be read all is affected up to the last end.
 */
function readIntervals(order: VersionOrder, all: readonly Step[]): Interval[] {
  const isRead = ({ version }: Step): boolean => version === undefined || isVersion(order, version);
  const intervals = intervalsOf(merged(order, all.filter(isRead)));
  if (!all.some((step) => step.introduced && !isRead(step))) return intervals;
  const ends = merged(
    order,
    all.filter((step) => !step.introduced && isRead(step)),
  );
  const isOpen = intervals.some(({ fixed, last }) => fixed === undefined && last === undefined);
  const [end] = ends.slice(-1);
  if (isOpen || end?.version === undefined || all.some((step) => !step.introduced && !isRead(step))) return [{}];
  return [end.last ? { last: end.version } : { fixed: end.version }];
}

function merged(order: VersionOrder, steps: readonly Step[]): Step[] {
  const sorted = steps.toSorted((a, b) => compareSteps(order, a, b));
  const found: Step[] = [];
  for (const step of sorted) {
    const before = found.at(-1);
    if (before === undefined || compareSteps(order, before, step) !== 0) found.push({ ...step });
    else {
      before.introduced ||= step.introduced;
      before.fixed ||= step.fixed;
      before.last ||= step.last;
    }
  }
  return found;
}

function compareSteps(order: VersionOrder, { version: a }: Step, { version: b }: Step): number {
  if (a === undefined || b === undefined) return Number(b === undefined) - Number(a === undefined);
  return compareVersions(order, a, b);
}

/**
 * Where one version is both introduced and fixed, the fix ends what was affected before, and the range goes on; where
 * nothing was affected before, nothing is. So the order of events in the record does not count.
 */
function intervalsOf(steps: readonly Step[]): Interval[] {
  const intervals: Interval[] = [];
  let open: Interval | undefined;
  const close = (end: Interval): void => {
    if (open !== undefined) intervals.push({ ...open, ...end });
    open = undefined;
  };
  for (const { version, introduced, fixed, last } of steps) {
    const begin: Interval = version === undefined ? {} : { from: version };
    const wasOpen = open !== undefined;
    if (fixed && version !== undefined) close({ fixed: version });
    if (introduced && (wasOpen || !fixed)) open ??= begin;
    if (last && version !== undefined) close({ last: version });
  }
  if (open !== undefined) intervals.push(open);
  return intervals;
}
