import { useQuery } from "@tanstack/react-query";
import { type Job, listJobs } from "../../api/gen/operations.ts";
import { query } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Section } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";

const POLL_MS = 10_000;

/** The work that the server does by itself, and which process does it. */
export function Jobs() {
  const { data, error } = useQuery({ ...query(listJobs, {}), refetchInterval: POLL_MS });
  return (
    <Section title="Jobs">
      <ErrorNote error={error} />
      {data !== undefined &&
        (data.jobs.length === 0 ? (
          <Empty title="No job has run yet">Jobs begin within minutes of the server's start.</Empty>
        ) : (
          <DataTable label="Jobs" rows={data.jobs} columns={COLUMNS} idOf={({ name }) => name} />
        ))}
    </Section>
  );
}

const COLUMNS: readonly Column<Job>[] = [
  { id: "name", header: "Job", cell: ({ name }) => name },
  { id: "state", header: "State", cell: (job) => <State job={job} /> },
  { id: "due", header: "Next", cell: ({ dueTime }) => <Time value={dueTime} /> },
  { id: "holder", header: "Process", isMinor: true, cell: ({ holder }) => <code>{holder}</code> },
];

function State({ job: { leaseUntilTime } }: { job: Job }) {
  if (leaseUntilTime === undefined || Date.parse(leaseUntilTime) < Date.now()) return <Badge>waits</Badge>;
  return (
    <span>
      <Badge look="accent">held</Badge> lease ends <Time value={leaseUntilTime} />
    </span>
  );
}
