import { useQuery } from "@tanstack/react-query";
import { IdentityName } from "../../../lib/identity-name.tsx";
import { shortDigest } from "../../../lib/digest.ts";
import { Badge } from "../../../ui/badge.tsx";
import { type Column, DataTable } from "../../../ui/data-table.tsx";
import { LinkButton } from "../../../ui/link-button.tsx";
import { Time } from "../../../ui/time.tsx";
import { type Reason, reasonsQuery } from "./history.ts";
import type { Move } from "./timeline-layout.ts";

const EVENT_DELAY_MS = 30_000;
const EVERY_MS = 1_500;

export interface MovesTableProps {
  repo: string;
  repoUid: string;
  tag: string;
  moves: readonly Move[];
  /** The times of the moves that are compared, as texts. */
  compared: ReadonlySet<string>;
  onCompare: (times: ReadonlySet<string>) => void;
  onMoment: (timeMs: number) => void;
  onMore: (() => void) | undefined;
  isLoadingMore: boolean;
}

/** Every move of the tag, newest first: when, to what, by whom and why. */
export function MovesTable({ repo, repoUid, tag, moves, compared, onCompare, onMoment, ...paging }: MovesTableProps) {
  const newestMs = moves[0]?.timeMs ?? 0;
  const { data } = useQuery({
    ...reasonsQuery(repoUid, tag),
    // An event can be listed a moment later than what it is about.
    refetchInterval: ({ state }) =>
      state.data !== undefined && state.data[newestMs] === undefined && Date.now() - newestMs < EVENT_DELAY_MS
        ? EVERY_MS
        : false,
  });
  const columns: readonly Column<Move>[] = [
    { id: "when", header: "When", cell: ({ timeMs }) => <Time value={new Date(timeMs).toISOString()} /> },
    {
      id: "digest",
      header: "Digest",
      cell: ({ digest, isDeletion }) =>
        isDeletion ? (
          <Badge>deleted</Badge>
        ) : (
          <a href={`/image?name=${encodeURIComponent(`${repo}@${digest}`)}`}>
            <code>{shortDigest(digest)}</code>
          </a>
        ),
    },
    { id: "why", header: "Why", cell: ({ timeMs }) => reasonWord(data?.[timeMs]) },
    {
      id: "who",
      header: "Who",
      isMinor: true,
      cell: ({ timeMs }) => {
        const reason = data?.[timeMs];
        return reason === undefined ? "" : <IdentityName uid={reason.actor} none="the server" />;
      },
    },
    {
      id: "show",
      header: "Timeline",
      isMinor: true,
      cell: ({ timeMs }) => <LinkButton onClick={() => onMoment(timeMs)}>show</LinkButton>,
    },
  ];
  return (
    <DataTable
      label="Moves"
      rows={moves}
      columns={columns}
      idOf={({ timeMs }) => String(timeMs)}
      selected={compared}
      onSelect={onCompare}
      {...paging}
    />
  );
}

function reasonWord(reason: Reason | undefined): string {
  return reason === undefined ? "not in the recent events" : reason.reason;
}
