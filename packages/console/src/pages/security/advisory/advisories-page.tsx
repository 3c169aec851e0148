import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Advisory } from "../../../api/gen/vulnerabilities.ts";
import { groupPath, groupsQuery } from "../../../lib/groups.ts";
import { useRights } from "../../../lib/rights.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Button } from "../../../ui/button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import type { Column } from "../../../ui/column.ts";
import { Empty } from "../../../ui/empty.tsx";
import { FilterChip } from "../../../ui/filter-chip.tsx";
import { Page } from "../../../ui/page.tsx";
import { SearchBox } from "../../../ui/search-box.tsx";
import { Time } from "../../../ui/time.tsx";
import { Toolbar } from "../../../ui/toolbar.tsx";
import { EVENT_WORDS, eventTypeOf, eventWords, REVIEW_WORDS } from "../words.ts";
import { NewAdvisory } from "./new-advisory.tsx";
import { advisoriesQuery } from "./queries.ts";
import { VexMenu } from "./vex-menu.tsx";

const route = getRouteApi("/shell/advisories");
const ANY_REVIEW = "all";
const WAITING = "PENDING";

/** The inbox of advisories. */
export function AdvisoriesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { groups } = useSuspenseQuery(groupsQuery).data;
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useSuspenseInfiniteQuery(advisoriesQuery(search));
  const [isNew, setNew] = useState(false);
  const group = search.group ?? groups.find(({ uid }) => !uid.includes("/"))?.uid ?? "";
  const rights = useRights(group);
  const rows = data.pages.flatMap(({ advisories }) => advisories);
  const columns: readonly Column<Advisory>[] = [
    {
      id: "vulnerability",
      header: "Vulnerability",
      cell: ({ uid, aliases, advisoryId }) => (
        <Link to="/advisory" search={{ uid }} title={advisoryId}>
          {aliases.join(", ")}
        </Link>
      ),
    },
    {
      id: "artifact",
      header: "In",
      orderBy: "artifactName",
      cell: ({ artifactName, componentName }) => [componentName, artifactName].filter(Boolean).join(" of "),
    },
    { id: "latest", header: "Last event", cell: ({ events }) => lastWords(events.at(-1)) },
    { id: "group", header: "Group", isMinor: true, cell: ({ uid }) => groupPath(parentUid(uid), groups) },
    {
      id: "changed",
      header: "Updated",
      orderBy: "updateTime",
      isMinor: true,
      cell: ({ updateTime }) => <Time value={updateTime} />,
    },
  ];
  return (
    <Page
      title="Advisories"
      lede="What you know about vulnerabilities in images and packages, and what is shared with other tools."
      actions={
        <>
          <VexMenu group={group} />
          <Button
            look="primary"
            disabledReason={group === "" ? "You cannot see any group" : rights("CAP_ADVISORIES_CREATE")}
            onClick={() => setNew(true)}
          >
            New advisory
          </Button>
        </>
      }
    >
      <Filters />
      {rows.length === 0 ? (
        <Empty title={search.review === ANY_REVIEW ? "No advisories" : "Nothing is waiting for review"}>
          An advisory records what you know about a vulnerability in an image or a package. Write one, or change the
          filters.
        </Empty>
      ) : (
        <DataTable
          label="Advisories"
          rowWord="advisory"
          rows={rows}
          columns={columns}
          idOf={({ uid }) => uid}
          total={Number(data.pages[0]?.totalCount ?? rows.length)}
          order={search.order ?? "updateTime desc"}
          onOrder={(order) => void navigate({ search: { ...search, order } })}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
        />
      )}
      {isNew && <NewAdvisory group={group} groups={groups} onClose={() => setNew(false)} />}
    </Page>
  );
}

function lastWords(event: Advisory["events"][number] | undefined): string {
  if (event === undefined) return "none yet";
  return `${eventWords(eventTypeOf(event))}: ${REVIEW_WORDS[event.reviewState.replace("REVIEW_STATE_", "")] ?? ""}`;
}

function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { groups } = useSuspenseQuery(groupsQuery).data;
  const set = (change: Record<string, string | undefined>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  return (
    <Toolbar>
      <SearchBox
        label="Find an advisory"
        placeholder="A part of a name"
        value={search.query}
        onSearch={(text) => set({ query: text || undefined })}
      />
      <FilterChip
        label="Review"
        value={search.review === ANY_REVIEW ? undefined : (search.review ?? WAITING)}
        options={Object.entries(REVIEW_WORDS).map(([state, words]) => [state, `an event that ${words}`])}
        onValue={(value) => set({ review: value ?? ANY_REVIEW })}
      />
      <FilterChip
        label="Status"
        value={search.latest}
        options={Object.entries(EVENT_WORDS)}
        onValue={(value) => set({ latest: value })}
      />
      <FilterChip
        label="Group"
        none="All groups"
        value={search.group}
        options={groups.map(({ uid }) => [uid, groupPath(uid, groups)])}
        onValue={(value) => set({ group: value })}
      />
    </Toolbar>
  );
}
