import { useQuery } from "@tanstack/react-query";
import { type Feed, listFeeds } from "../../api/gen/operations.ts";
import { query } from "../../api/queries.ts";
import { count } from "../../lib/bytes.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Section } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";

const POLL_MS = 30_000;

/** The feeds of security data: how old each is, and how its last attempt ended. */
export function Feeds() {
  const { data, error } = useQuery({ ...query(listFeeds, {}), refetchInterval: POLL_MS });
  return (
    <Section title="Feeds of security data">
      <ErrorNote error={error} />
      {data !== undefined &&
        (data.feeds.length === 0 ? (
          <Empty title="No feeds yet" command="moorage feeds add osv kev epss">
            Vulnerabilities of images are known once the server has feeds. Add some by name, or import files:
          </Empty>
        ) : (
          <DataTable label="Feeds" rows={data.feeds} columns={COLUMNS} idOf={({ name }) => name} />
        ))}
    </Section>
  );
}

const COLUMNS: readonly Column<Feed>[] = [
  { id: "name", header: "Feed", cell: ({ name }) => name },
  { id: "age", header: "Brought up to date", cell: (feed) => <Age feed={feed} /> },
  { id: "covers", header: "Covers", cell: (feed) => coverageOf(feed) },
  { id: "records", header: "Records", align: "end", cell: ({ records }) => count(records) },
  { id: "problems", header: "Not read", align: "end", isMinor: true, cell: ({ problems }) => count(problems) },
  { id: "unmatched", header: "Match nothing", align: "end", isMinor: true, cell: (feed) => unmatchedOf(feed) },
  { id: "state", header: "Last attempt", cell: (feed) => <State feed={feed} /> },
  { id: "licence", header: "Licence", isMinor: true, cell: ({ licence }) => licence || "not said" },
];

function Age({ feed: { successTime, isOverdue } }: { feed: Feed }) {
  return (
    <span>
      {successTime === undefined ? "never" : <Time value={successTime} />}{" "}
      {isOverdue && <Badge look="warning">overdue</Badge>}
    </span>
  );
}

const unmatchedOf = ({ format, coverageKnown, unmatched }: Feed): string =>
  coverageKnown || !MATCHED.has(format) ? count(unmatched) : "not known";

function coverageOf({ format, coverage, coverageKnown }: Feed): string {
  if (!MATCHED.has(format)) return "CVEs, or products";
  if (!coverageKnown) return "not known";
  const [matched, others] = [true, false].map((is) =>
    coverage.filter(({ isMatched }) => isMatched === is).map(({ space }) => space),
  );
  const parts = [...(matched ?? []), ...((others ?? []).length > 0 ? [`not matched: ${others?.join(", ")}`] : [])];
  return parts.length === 0 ? "nothing yet" : parts.join(", ");
}

// The formats whose records are about packages.
const MATCHED = new Set(["osv", "alpine-secdb", "debian-tracker"]);

function State({ feed: { error, attemptTime } }: { feed: Feed }) {
  if (attemptTime === undefined) return <span>none yet</span>;
  if (error === "") return <Badge look="success">succeeded</Badge>;
  return (
    <span>
      <Badge look="danger">failed</Badge> {error}
    </span>
  );
}
