import { Link } from "@tanstack/react-router";
import type { GroupStorage } from "../../../api/gen/registry.ts";
import { bytes, count } from "../../../lib/bytes.ts";
import type { Column } from "../../../ui/column.ts";
import { DataTable } from "../../../ui/data-table.tsx";
import { Meter } from "../../../ui/meter.tsx";
import { sharedOf } from "./storage-sums.ts";

export interface StorageTableProps {
  rows: readonly GroupStorage[];
  onMore: (() => void) | undefined;
  isLoadingMore: boolean;
}

/** What each group takes up; each leads to the groups below it. */
export function StorageTable({ rows, ...rest }: StorageTableProps) {
  const largest = Math.max(...rows.map(({ blobBytes }) => Number(blobBytes)), 1);
  const isSharedKnown = sharedOf(rows) !== undefined;
  const columns = columnsOf(largest).filter(({ id }) => id !== SHARED || isSharedKnown);
  return (
    <DataTable
      label="Storage by group"
      rowWord="group"
      rows={rows}
      columns={columns}
      idOf={({ groupUid, own }) => `${groupUid} ${own}`}
      isTall
      {...rest}
    />
  );
}

const SHARED = "shared";

function columnsOf(largest: number): readonly Column<GroupStorage>[] {
  const atLeast = ({ truncated }: GroupStorage): string => (truncated ? "at least " : "");
  return [
    {
      id: "group",
      header: "Group",
      cell: ({ groupUid, name, own }) =>
        own ? (
          `${name}, its own images`
        ) : (
          <Link to="/operations/storage" search={{ group: groupUid }}>
            {name}
          </Link>
        ),
    },
    {
      id: "bytes",
      header: "Layers and configs",
      cell: (row) => <Meter text={atLeast(row) + bytes(row.blobBytes)} part={Number(row.blobBytes) / largest} />,
    },
    {
      id: SHARED,
      header: "of it shared",
      align: "end",
      isMinor: true,
      cell: (row) => <span title="Also counted in other rows">{atLeast(row) + bytes(row.sharedBytes)}</span>,
    },
    {
      id: "packages",
      header: "Packages",
      align: "end",
      isMinor: true,
      cell: (row) => atLeast(row) + bytes(row.libraryBytes),
    },
    {
      id: "manifests",
      header: "Manifests",
      align: "end",
      isWide: true,
      cell: (row) => atLeast(row) + count(row.manifests),
    },
    { id: "repos", header: "Images", align: "end", cell: ({ repos }) => count(repos) },
    { id: "tags", header: "Tags", align: "end", isMinor: true, cell: ({ tags }) => count(tags) },
  ];
}
