import { infiniteQueryOptions, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { ApiError } from "../../api/errors.ts";
import { type Event, listEvents, type ListEventsRequest } from "../../api/gen/events.ts";

/** What is read of the feed. */
export interface FeedFilter {
  group: string;
  /** Only types that begin so; empty for all. */
  type: string;
  /** Only subjects at or below this uid; empty for all. */
  subject: string;
}

/** What was read so far. */
export interface Feed {
  /** Newest first, at most MAX_KEPT. */
  events: readonly Event[];
  cursor: string;
  /** Whether events were removed before they could be read. */
  hasMissed: boolean;
}

const PAGE_SIZE = 200;
const POLL_MS = 2_000;
const MAX_PAGES = 10;
const MAX_KEPT = 2_000;

/** The recent events, and those to come as long as it is not paused. */
export function useFeed(filter: FeedFilter, isPaused: boolean) {
  const client = useQueryClient();
  const options = liveOptions(filter);
  return useQuery({
    ...options,
    queryFn: ({ signal }) => readOn(filter, client.getQueryData(options.queryKey), signal),
    enabled: filter.group !== "" && !isPaused,
    refetchInterval: isPaused ? false : POLL_MS,
    staleTime: 0,
    // The order and the identity of what was read stay; comparing thousands of events at every turn costs too much.
    structuralSharing: false,
  });
}

function liveOptions(filter: FeedFilter) {
  return queryOptions<Feed>({ queryKey: ["/events/v2/events", "live", filter] });
}

/** The events from the oldest that is kept, page by page, oldest first. */
export function oldestQuery(filter: FeedFilter) {
  return infiniteQueryOptions({
    queryKey: ["/events/v2/events", "oldest", filter],
    queryFn: ({ signal, pageParam }) => call(listEvents, requestOf(filter, pageParam), { signal }),
    initialPageParam: "",
    getNextPageParam: ({ more, nextCursor }) => (more ? nextCursor : undefined),
  });
}

async function readOn(filter: FeedFilter, before: Feed | undefined, signal: AbortSignal): Promise<Feed> {
  let feed = before ?? { events: [], cursor: "recent", hasMissed: false };
  for (let page = 0; page < MAX_PAGES; page += 1) {
    try {
      const { events, nextCursor, more } = await call(listEvents, requestOf(filter, feed.cursor), { signal });
      const all = events.length === 0 ? feed.events : [...events.toReversed(), ...feed.events].slice(0, MAX_KEPT);
      feed = { ...feed, events: all, cursor: nextCursor };
      if (!more) break;
    } catch (error) {
      if (!isExpired(error)) throw error;
      feed = { events: [], cursor: "recent", hasMissed: true };
    }
  }
  return feed;
}

function requestOf({ group, type, subject }: FeedFilter, cursor: string): ListEventsRequest {
  return {
    group,
    cursor,
    pageSize: PAGE_SIZE,
    ...(type !== "" && { typePrefixes: [type] }),
    ...(subject !== "" && { subjectPrefixes: [subject] }),
  };
}

function isExpired(error: unknown): boolean {
  return error instanceof ApiError && error.code === "FAILED_PRECONDITION";
}
