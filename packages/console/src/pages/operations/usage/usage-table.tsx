import { Link } from "@tanstack/react-router";
import type { GroupUsage } from "../../../api/gen/registry.ts";
import { Chips, TagChip } from "../../../ui/chips.tsx";
import type { Column } from "../../../ui/column.ts";
import { DataTable } from "../../../ui/data-table.tsx";
import { growthWords, pullWords, sizeWords, trafficWords } from "./usage-words.ts";

export interface UsageTableProps {
  /** One row of each group, of the period that is shown. */
  rows: readonly GroupUsage[];
  /** The group that the page is about, with all below it; empty without one. */
  group: string;
  by: string | undefined;
  onMore: (() => void) | undefined;
  isLoadingMore: boolean;
}

/** What each group takes up and transfers in a period; each leads to the groups below it. */
export function UsageTable({ rows, group, by, ...rest }: UsageTableProps) {
  const columns: readonly Column<GroupUsage>[] = [
    {
      id: "group",
      header: "Group",
      cell: ({ groupUid, name }) =>
        groupUid === group ? (
          `${name}, with all below it`
        ) : (
          <Link to="/operations/usage" search={{ group: groupUid, ...(by !== undefined && { by }) }}>
            {name}
          </Link>
        ),
    },
    { id: "bytes", header: "Storage", align: "end", cell: sizeWords },
    { id: "growth", header: "Growth", align: "end", isMinor: true, cell: growthWords },
    { id: "pulls", header: "Pulls", align: "end", isMinor: true, cell: pullWords },
    { id: "traffic", header: "Traffic", align: "end", cell: trafficWords },
    { id: "labels", header: "Cost labels", isWide: true, cell: ({ costLabels }) => <Labels labels={costLabels} /> },
  ];
  return (
    <DataTable
      label="Usage by group"
      rowWord="group"
      rows={rows}
      columns={columns}
      idOf={({ groupUid }) => groupUid}
      {...rest}
    />
  );
}

function Labels({ labels }: { labels: Readonly<Record<string, string>> }) {
  const all = Object.entries(labels);
  if (all.length === 0) return <span>none</span>;
  return (
    <Chips>
      {all.map(([name, value]) => (
        <TagChip key={name}>{`${name}: ${value}`}</TagChip>
      ))}
    </Chips>
  );
}
