import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { deleteSession, listSessions, type Session } from "../../api/gen/iam.ts";
import { collection } from "../../api/queries.ts";
import { leave } from "../../routing/leave.ts";
import { useRights } from "../../lib/rights.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Time } from "../../ui/time.tsx";
import { say } from "../../ui/toasts.tsx";
import { sessionsQuery } from "./queries.ts";
import { agentWords } from "./agent-words.ts";

const NEWEST = "createTime desc";

export interface SessionTableProps {
  /** Whose; the person's own for an empty one. */
  identity: string;
  order: string | undefined;
  onOrder: (order: string) => void;
}

/** The browsers and programs in which a person, or another identity, is signed in. Each can be ended. */
export function SessionTable({ identity, order = NEWEST, onOrder }: SessionTableProps) {
  const client = useQueryClient();
  const rights = useRights(identity);
  const [ending, setEnding] = useState<Session>();
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    sessionsQuery(identity, order),
  );
  const rows = data?.pages.flatMap((page) => page.sessions) ?? [];
  const total = data?.pages[0]?.totalCount;
  const end = async ({ uid, current }: Session): Promise<void> => {
    if (current) return await leave();
    await call(deleteSession, { uid });
    say("The session has ended");
    await client.invalidateQueries({ queryKey: [collection(listSessions)] });
  };
  const reason = identity === "" ? undefined : rights("CAP_IAM_IDENTITY_UPDATE");
  const columns: readonly Column<Session>[] = [
    { id: "what", header: "Signed in with", cell: (session) => <What session={session} /> },
    { id: "network", header: "Network", isWide: true, cell: ({ network }) => network || "not known" },
    {
      id: "since",
      header: "Since",
      orderBy: "createTime",
      isWide: true,
      cell: ({ createTime }) => <Time value={createTime} />,
    },
    { id: "seen", header: "Last seen", orderBy: "seenTime", cell: ({ seenTime }) => <Time value={seenTime} /> },
    {
      id: "end",
      header: "Ends",
      orderBy: "expireTime",
      isWide: true,
      cell: ({ expireTime }) => <Time value={expireTime} />,
    },
    {
      id: "action",
      header: "Action",
      cell: (session) => (
        <Button
          disabledReason={session.current ? undefined : reason}
          aria-label={`End the session with ${agentWords(session)}`}
          onClick={() => setEnding(session)}
        >
          End…
        </Button>
      ),
    },
  ];
  return (
    <>
      <ErrorNote error={error} />
      {data !== undefined && rows.length === 0 ? (
        <Empty title="No sessions" command="moorage login">
          This identity is not signed in anywhere. To sign in from a program:
        </Empty>
      ) : (
        <DataTable
          label="Sessions"
          rowWord="session"
          rows={rows}
          columns={columns}
          idOf={({ uid }) => uid}
          total={total === undefined ? undefined : Number(total)}
          order={order}
          onOrder={onOrder}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
        />
      )}
      <Confirm
        isOpen={ending !== undefined}
        onClose={() => setEnding(undefined)}
        title="End the session"
        description={ending?.current ? "This signs you out here, now." : endingOf(ending)}
        action="End it"
        onConfirm={() => (ending === undefined ? Promise.resolve() : end(ending))}
      />
    </>
  );
}

function What({ session }: { session: Session }) {
  return (
    <span title={session.userAgent}>
      {agentWords(session)} {session.current && <Badge look="accent">this browser</Badge>}
    </span>
  );
}

function endingOf(session: Session | undefined): string {
  return session?.kind === "SESSION_KIND_PROGRAM"
    ? "The program gets no new tokens; the one that it has ends within an hour."
    : "That browser is signed out on its next request.";
}
