import { useMemo } from "react";
import type { Feed } from "../../../api/gen/operations.ts";
import { count } from "../../../lib/bytes.ts";
import { Badge } from "../../../ui/badge.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import type { Column } from "../../../ui/column.ts";
import { Time } from "../../../ui/time.tsx";
import { FeedActions } from "./actions.tsx";
import styles from "./feeds.module.css";
import { coverageText, intervalText, unmatchedText } from "./words.ts";

function Name({ feed: { name, licence } }: { feed: Feed }) {
  return (
    <>
      <span className={styles.whole}>{name}</span>
      <small className={styles.licence}>{licence || "license not stated"}</small>
    </>
  );
}

/** The feeds of security data: how old each is, what it covers, and what can be done with it. */
export function FeedTable({ feeds, mayNot }: { feeds: readonly Feed[]; mayNot: string | undefined }) {
  const columns = useMemo<readonly Column<Feed>[]>(
    () => [
      ...COLUMNS,
      { id: "actions", header: "Actions", align: "end", cell: (feed) => <FeedActions feed={feed} mayNot={mayNot} /> },
    ],
    [mayNot],
  );
  return (
    <DataTable
      label="Feeds"
      rowWord="feed"
      total={feeds.length}
      rows={feeds}
      columns={columns}
      idOf={({ name }) => name}
    />
  );
}

const COLUMNS: readonly Column<Feed>[] = [
  { id: "name", header: "Feed", cell: (feed) => <Name feed={feed} /> },
  { id: "state", header: "State", cell: (feed) => <State feed={feed} /> },
  { id: "covers", header: "Covers", isMinor: true, cell: coverageText },
  {
    id: "records",
    header: "Records",
    align: "end",
    cell: ({ records }) => <span className={styles.whole}>{count(records)}</span>,
  },
  { id: "problems", header: "Not read", align: "end", isMinor: true, cell: ({ problems }) => count(problems) },
  { id: "unmatched", header: "Match nothing", align: "end", isMinor: true, cell: unmatchedText },
  { id: "interval", header: "Fetched", isMinor: true, cell: intervalText },
];

function State({
  feed: { error, attemptTime, address, successTime, isOverdue, deleteTime, requestTime },
}: {
  feed: Feed;
}) {
  if (deleteTime !== undefined) return <Badge look="warning">being removed</Badge>;
  const isAsked = requestTime !== undefined && (attemptTime === undefined || requestTime > attemptTime);
  const isNew = attemptTime === undefined && address !== "";
  return (
    <span>
      {isAsked || isNew ? (
        <Badge look="accent">waiting to be fetched</Badge>
      ) : error !== "" ? (
        <Badge look="danger">failed</Badge>
      ) : (
        successTime !== undefined && <Badge look="success">read</Badge>
      )}{" "}
      {isOverdue && <Badge look="warning">overdue</Badge>}{" "}
      {successTime === undefined ? "never read" : <Time value={successTime} />} {error}
    </span>
  );
}
