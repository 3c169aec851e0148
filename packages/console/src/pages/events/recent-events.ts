import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { listEvents } from "../../api/gen/events.ts";
import { collection } from "../../api/queries.ts";
import { count } from "../../lib/bytes.ts";
import { relativeTime } from "../../lib/time.ts";

const PAGE_SIZE = 200;
/** "recent" begins among the last 1,000 events of an organization; pages may have fewer than they hold. */
const MAX_PAGES = 8;
const FRESH_MS = 60_000;

/** What happened lately in a group and below it. */
export interface RecentEvents {
  types: readonly string[];
  /** When the first of them happened; undefined without one. */
  since: string | undefined;
  /** Whether more happened than was read. */
  isMore: boolean;
}

/** The types of the last events of a group, as far as they are among the last 1,000 of its organization. */
export function recentEventsQuery(group: string) {
  return queryOptions({
    queryKey: [collection(listEvents), "recent", group],
    queryFn: ({ signal }) => readRecent(group, signal),
    enabled: group !== "",
    retry: false,
    staleTime: FRESH_MS,
  });
}

async function readRecent(group: string, signal: AbortSignal): Promise<RecentEvents> {
  const types: string[] = [];
  let since: string | undefined;
  let cursor = "recent";
  for (let left = MAX_PAGES; left > 0; left--) {
    const { events, nextCursor, more } = await call(listEvents, { group, cursor, pageSize: PAGE_SIZE }, { signal });
    since ??= events[0]?.time;
    types.push(...events.map(({ type }) => type));
    if (!more) return { types, since, isMore: false };
    cursor = nextCursor;
  }
  return { types, since, isMore: true };
}

/** How many of the types begin with one of these; all of them for none. */
export function countOf(types: readonly string[], prefixes: readonly string[]): number {
  if (prefixes.length === 0) return types.length;
  return types.filter((type) => prefixes.some((prefix) => type.startsWith(prefix))).length;
}

/** `61 of the last 412 events in it, since 2 days ago`: how many of the last events these would have been. */
export function recentWords(
  { types, since, isMore }: RecentEvents,
  prefixes: readonly string[],
  nowMs: number,
): string {
  if (types.length === 0) return "no recent events";
  const begun = since === undefined ? "" : `, since ${relativeTime(since, nowMs)}`;
  const found = countOf(types, prefixes);
  const all = `${isMore ? "at least " : ""}${count(types.length)} ${types.length === 1 ? "event" : "events"}`;
  return `${count(found)} of the last ${all}${begun}`;
}
