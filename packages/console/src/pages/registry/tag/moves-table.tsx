import { Badge } from "../../../ui/badge.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import type { Column } from "../../../ui/column.ts";
import { DigestChip } from "../../../ui/digest-chip.tsx";
import { LinkButton } from "../../../ui/link-button.tsx";
import { SeverityHead } from "../../../ui/severity-strip.tsx";
import { Time } from "../../../ui/time.tsx";
import { Findings } from "../tag-cells.tsx";
import { Mover } from "../mover.tsx";
import type { Move } from "./timeline-layout.ts";

export interface MovesTableProps {
  repo: string;
  moves: readonly Move[];
  /** The times of the moves that are compared, as texts. */
  compared: ReadonlySet<string>;
  onCompare: (times: ReadonlySet<string>) => void;
  onMoment: (timeMs: number) => void;
  onMore: (() => void) | undefined;
  isLoadingMore: boolean;
}

/** Every move of the tag, newest first: when, to what, by whom and why. */
export function MovesTable({ repo, moves, compared, onCompare, onMoment, ...paging }: MovesTableProps) {
  const columns: readonly Column<Move>[] = [
    { id: "when", header: "Updated", cell: ({ timeMs }) => <Time value={new Date(timeMs).toISOString()} /> },
    {
      id: "digest",
      header: "Digest",
      cell: ({ digest, isDeletion }) =>
        isDeletion ? (
          <Badge>deleted</Badge>
        ) : (
          <DigestChip digest={digest} href={`/image?name=${encodeURIComponent(`${repo}@${digest}`)}`} />
        ),
    },
    { id: "why", header: "How", isMinor: true, cell: ({ reason }) => reason },
    {
      id: "who",
      header: "By",
      isWide: true,
      cell: ({ actor, reason }) => <Mover actor={actor} reason={reason} />,
      below: ({ actor, reason }) => (
        <>
          <Mover actor={actor} reason={reason} /> {reason}
        </>
      ),
    },
    {
      id: "findings",
      isRead: true,
      header: "Findings",
      head: <SeverityHead />,
      isWide: true,
      cell: ({ digest, isDeletion }) => (isDeletion ? null : <Findings repo={repo} digest={digest} />),
      below: ({ digest, isDeletion }) => (isDeletion ? null : <Findings repo={repo} digest={digest} isLettered />),
    },
    {
      id: "show",
      header: "Timeline",
      isWide: true,
      cell: ({ timeMs }) => <LinkButton onClick={() => onMoment(timeMs)}>show</LinkButton>,
    },
  ];
  return (
    <DataTable
      label="Moves"
      rowWord="move"
      rows={moves}
      columns={columns}
      idOf={({ timeMs }) => String(timeMs)}
      selected={compared}
      onSelect={onCompare}
      {...paging}
    />
  );
}
