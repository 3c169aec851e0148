import { useState } from "react";
import type { Event } from "../../api/gen/events.ts";
import { IdentityName } from "../../lib/identity-name.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { LinkButton } from "../../ui/link-button.tsx";
import { Time } from "../../ui/time.tsx";
import { EventDialog } from "./event-dialog.tsx";
import { shortType, subjectOf } from "./event-words.ts";

export interface EventTableProps {
  events: readonly Event[];
  onMore?: (() => void) | undefined;
  isLoadingMore?: boolean;
}

/** Events, each opened by its type. */
export function EventTable({ events, onMore, isLoadingMore }: EventTableProps) {
  const [open, setOpen] = useState<Event>();
  const what = (event: Event) => <LinkButton onClick={() => setOpen(event)}>{shortType(event.type)}</LinkButton>;
  const columns: readonly Column<Event>[] = [
    { id: "time", header: "When", cell: ({ time }) => <Time value={time} /> },
    { id: "type", header: "What", cell: what, below: what },
    { id: "subject", header: "To what", cell: subjectOf, below: subjectOf },
    {
      id: "actor",
      header: "Who",
      isMinor: true,
      cell: ({ actor }) => <IdentityName uid={actor} none="server or nobody" />,
    },
  ];
  return (
    <>
      <DataTable
        label="Events"
        rowWord="event"
        rows={events}
        columns={columns}
        idOf={({ id }) => id}
        onMore={onMore}
        isLoadingMore={isLoadingMore ?? false}
      />
      <EventDialog event={open} onClose={() => setOpen(undefined)} />
    </>
  );
}
