import { counted } from "../../lib/bytes.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Note } from "../../ui/note.tsx";
import { EventTable } from "./event-table.tsx";
import { type FeedFilter, useFeed } from "./feed.ts";

/** The recent events, newest first, and those to come. */
export function LiveFeed({ filter, isPaused }: { filter: FeedFilter; isPaused: boolean }) {
  const { data, error } = useFeed(filter, isPaused);
  const count = data?.events.length ?? 0;
  return (
    <>
      <ErrorNote error={error} />
      {data?.hasMissed && (
        <Note look="warning">
          Some events were removed before this page could read them. It continues with recent ones.
        </Note>
      )}
      <p>
        {isPaused ? "Paused: new events appear when you resume. " : ""}
        {data === undefined ? (error === null ? "Reading…" : "") : `${counted(count, "event")}, newest first.`}
      </p>
      {data !== undefined &&
        (count === 0 ? (
          <Empty title="Nothing has happened here yet" command="moorage sample --push URL/acme/app:latest">
            Events appear here within seconds. For example, push an image:
          </Empty>
        ) : (
          <EventTable events={data.events} />
        ))}
    </>
  );
}
