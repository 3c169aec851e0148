import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { Subscription } from "../../api/gen/events.ts";
import { groupPath, groupsQuery } from "../../lib/groups.ts";
import { useRights } from "../../lib/rights.ts";
import { parentUid } from "../../lib/uid.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Empty } from "../../ui/empty.tsx";
import { FilterChip } from "../../ui/filter-chip.tsx";
import { Page } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { Toolbar } from "../../ui/toolbar.tsx";
import { Backlog } from "./backlog.tsx";
import { subscriptionsQuery } from "./queries.ts";
import { SubscriptionBadge } from "./states.tsx";

const route = getRouteApi("/shell/events/subscriptions");

/** To whom events are sent, with what waits for each. */
export function SubscriptionsPage() {
  const { group = "", order = "createTime" } = route.useSearch();
  const { groups } = useSuspenseQuery(groupsQuery).data;
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useSuspenseInfiniteQuery(
    subscriptionsQuery(group, order),
  );
  const navigate = useNavigate();
  const target = group || groups[0]?.uid || "";
  const rights = useRights(group);
  const rows = data.pages.flatMap((page) => page.subscriptions);
  const columns: readonly Column<Subscription>[] = [
    {
      id: "sink",
      header: "Sent to",
      orderBy: "sink",
      cell: ({ uid, sink }) => (
        <Link to="/events/subscription" search={{ uid }}>
          {sink}
        </Link>
      ),
    },
    { id: "state", header: "State", orderBy: "state", cell: ({ state }) => <SubscriptionBadge state={state} /> },
    { id: "backlog", header: "Backlog", cell: ({ uid }) => <Backlog uid={uid} /> },
    { id: "group", header: "Group", isMinor: true, cell: ({ uid }) => groupPath(parentUid(uid), groups) },
    {
      id: "made",
      header: "Created",
      orderBy: "createTime",
      isMinor: true,
      cell: ({ createTime }) => <Time value={createTime} />,
    },
  ];
  const reason =
    target === "" ? "You cannot see any group" : group === "" ? undefined : rights("CAP_EVENTS_SUBSCRIPTION_CREATE");
  return (
    <Page
      title="Webhooks"
      lede="Addresses that are called when something happens in a group."
      actions={
        <Button
          look="primary"
          disabledReason={reason}
          onClick={() => void navigate({ to: "/events/subscriptions/new", search: { group } })}
        >
          New webhook
        </Button>
      }
    >
      <Toolbar>
        <FilterChip
          label="Group"
          none="All groups"
          value={group || undefined}
          options={groups.map(({ uid }) => [uid, groupPath(uid, groups)])}
          onValue={(uid) => void navigate({ to: "/events/subscriptions", search: { group: uid ?? "", order } })}
        />
      </Toolbar>
      {rows.length === 0 ? (
        <Empty title="No webhooks yet">
          A webhook sends the events of a group, such as pushes, to your address. Create one with “New webhook”, or read
          events under Events.
        </Empty>
      ) : (
        <DataTable
          label="Webhooks"
          rowWord="webhook"
          rows={rows}
          columns={columns}
          idOf={({ uid }) => uid}
          total={totalOf(data.pages[0]?.totalCount)}
          order={order}
          onOrder={(next) => void navigate({ to: "/events/subscriptions", search: { group, order: next } })}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
        />
      )}
    </Page>
  );
}

function totalOf(totalCount: string | undefined): number | undefined {
  return totalCount === undefined ? undefined : Number(totalCount);
}
