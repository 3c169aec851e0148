import { useInfiniteQuery } from "@tanstack/react-query";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { EventTable } from "./event-table.tsx";
import { type FeedFilter, oldestQuery } from "./feed.ts";

/** The events from the oldest that is kept, read on as they are scrolled. */
export function OldestFeed({ filter }: { filter: FeedFilter }) {
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery(oldestQuery(filter));
  const events = data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <>
      <ErrorNote error={error} />
      {data !== undefined && events.length === 0 && !hasNextPage ? (
        <Empty title="No stored event matches">Choose another group, or clear the filters.</Empty>
      ) : (
        <EventTable
          events={events}
          onMore={hasNextPage && error === null ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetching}
        />
      )}
    </>
  );
}
