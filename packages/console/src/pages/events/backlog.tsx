import { useQueries } from "@tanstack/react-query";
import { type DeliveryState, listDeliveries } from "../../api/gen/events.ts";
import { query } from "../../api/queries.ts";
import { count } from "../../lib/bytes.ts";

const POLL_MS = 10_000;
const COUNTED: readonly DeliveryState[] = [
  "DELIVERY_STATE_PENDING",
  "DELIVERY_STATE_SENDING",
  "DELIVERY_STATE_RETRYING",
  "DELIVERY_STATE_DEAD",
];

/** How many events wait for the subscription, and how many were given up. */
export function Backlog({ uid }: { uid: string }) {
  const answers = useQueries({
    queries: COUNTED.map((state) => ({
      ...query(listDeliveries, { uidp: { childrenOf: uid }, state, pageSize: 1 }),
      refetchInterval: POLL_MS,
    })),
  });
  if (answers.some(({ data }) => data === undefined)) return <span>…</span>;
  // There is no total when it is over 10,000.
  const totals = answers.map(({ data }) => (data?.totalCount === undefined ? Infinity : Number(data.totalCount)));
  const dead = totals.at(-1) ?? 0;
  const waiting = totals.slice(0, -1).reduce((sum, each) => sum + each, 0);
  return (
    <span>
      {many(waiting)} waiting{dead > 0 && <>, {many(dead)} dead</>}
    </span>
  );
}

function many(value: number): string {
  return value === Infinity ? "over 10,000" : count(value);
}
