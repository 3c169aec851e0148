import { useQuery } from "@tanstack/react-query";
import { type FeedProblem, listFeedProblems } from "../../../api/gen/operations.ts";
import { query } from "../../../api/queries.ts";
import { DataTable } from "../../../ui/data-table.tsx";
import type { Column } from "../../../ui/column.ts";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Section } from "../../../ui/page.tsx";

/** Records of feeds that could not be read, and those that match nothing. Nothing is shown where there are none. */
export function FeedProblems() {
  const { data, error } = useQuery(query(listFeedProblems, {}));
  if (error === null && (data === undefined || data.problems.length === 0)) return undefined;
  return (
    <Section title="Feed records that match nothing">
      <ErrorNote error={error} />
      {data !== undefined && (
        <DataTable
          label="Problems of feeds"
          rows={data.problems.slice(0, MAX_SHOWN)}
          columns={COLUMNS}
          idOf={({ feed, kind, record, position }) => `${feed} ${kind} ${record} ${position}`}
        />
      )}
      {data !== undefined && data.problems.length > MAX_SHOWN && (
        <p>The first {MAX_SHOWN}; `moorage feeds list --problems` lists all that are stored.</p>
      )}
    </Section>
  );
}

const MAX_SHOWN = 200;

const COLUMNS: readonly Column<FeedProblem>[] = [
  { id: "feed", header: "Feed", cell: ({ feed }) => feed },
  { id: "position", header: "Where", cell: ({ position }) => position },
  { id: "kind", header: "Record", cell: ({ kind }) => (kind === "KIND_UNREADABLE" ? "not read" : "matches nothing") },
  { id: "message", header: "Why", cell: ({ message }) => message },
];
