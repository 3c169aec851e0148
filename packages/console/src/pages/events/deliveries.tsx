import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Delivery, type DeliveryState, listDeliveries, type Subscription } from "../../api/gen/events.ts";
import { listQuery } from "../../api/queries.ts";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { SelectField } from "../../ui/field.tsx";
import { LinkButton } from "../../ui/link-button.tsx";
import { Row } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { DeliveryDialog } from "./delivery-dialog.tsx";
import { shortType } from "./event-words.ts";
import { DELIVERY_WORDS, DeliveryBadge } from "./states.tsx";
import { answerOf } from "./delivery-answer.ts";

const route = getRouteApi("/shell/events/subscription");

const PAGE_SIZE = 100;
const POLL_MS = 5_000;
const STATES = (Object.keys(DELIVERY_WORDS) as DeliveryState[]).filter((state) => !state.endsWith("_UNSPECIFIED"));

/** The deliveries of a subscription, newest first, with what the receiver answered. */
export function Deliveries({ subscription: { uid } }: { subscription: Subscription }) {
  const { state: wanted } = route.useSearch();
  const state = STATES.find((each) => each === wanted);
  const navigate = useNavigate();
  const [open, setOpen] = useState<string>();
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    ...listQuery(listDeliveries, {
      uidp: { childrenOf: uid },
      ...(state !== undefined && { state }),
      pageSize: PAGE_SIZE,
    }),
    // Who has scrolled far reads on; all pages would be read anew.
    refetchInterval: ({ state: { data: read } }) => (read === undefined || read.pages.length > 1 ? false : POLL_MS),
  });
  const rows = data?.pages.flatMap((page) => page.deliveries) ?? [];
  const total = data?.pages[0]?.totalCount;
  return (
    <>
      <Row>
        <SelectField
          label="State"
          value={state ?? ""}
          onChange={({ target }) =>
            void navigate({ to: "/events/subscription", search: { uid, state: target.value }, replace: true })
          }
        >
          <option value="">all</option>
          {STATES.map((each) => (
            <option key={each} value={each}>
              {DELIVERY_WORDS[each]}
            </option>
          ))}
        </SelectField>
      </Row>
      <ErrorNote error={error} />
      {data !== undefined && rows.length === 0 ? (
        <Empty title="No deliveries">No event that it is for has happened yet. Send a test to try the receiver.</Empty>
      ) : (
        <DataTable
          label="Deliveries"
          rowWord="delivery"
          rows={rows}
          columns={columnsOf(setOpen)}
          idOf={(row) => row.uid}
          total={total === undefined ? undefined : Number(total)}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
        />
      )}
      <DeliveryDialog delivery={rows.find((row) => row.uid === open)} onClose={() => setOpen(undefined)} />
    </>
  );
}

const lastAnswer = ({ lastStatus, lastError }: Delivery): string => answerOf(lastStatus, lastError);

function columnsOf(onOpen: (uid: string) => void): readonly Column<Delivery>[] {
  return [
    {
      id: "event",
      header: "Event",
      cell: ({ uid, eventType }) => <LinkButton onClick={() => onOpen(uid)}>{shortType(eventType)}</LinkButton>,
    },
    { id: "state", header: "State", cell: ({ state }) => <DeliveryBadge state={state} /> },
    { id: "tries", header: "Attempts", align: "end", isMinor: true, cell: ({ tries }) => tries },
    { id: "answer", header: "Last answer", cell: lastAnswer, below: lastAnswer },
    { id: "time", header: "Since", isMinor: true, cell: ({ createTime }) => <Time value={createTime} /> },
  ];
}
