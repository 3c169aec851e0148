import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { listFindings, type ListFindingsRequest } from "../../../api/gen/vulnerabilities.ts";
import { listQuery } from "../../../api/queries.ts";
import { countSeverities } from "../../../lib/severities.ts";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { FilterChip } from "../../../ui/filter-chip.tsx";
import { Note } from "../../../ui/note.tsx";
import { Section } from "../../../ui/page.tsx";
import { SearchBox } from "../../../ui/search-box.tsx";
import { SeverityBar } from "../../../ui/severity-bar.tsx";
import { Toolbar } from "../../../ui/toolbar.tsx";
import { FindingTable } from "../finding-table.tsx";
import { NotKnown, StaleFeeds } from "../knowledge.tsx";
import { SEVERITIES, severityOf } from "../severity.tsx";
import { sizedLayers } from "./build-steps.ts";
import { FixFirst } from "./fix-first.tsx";
import { NotCompared } from "./incomparable.tsx";
import { inLayer, layerNote } from "./layer-filter.ts";
import type { Chosen } from "./platforms.ts";

const route = getRouteApi("/shell/image");

const PAGE_SIZE = 200;
const MAX_FILTERED = 2_000;
const ONLY = [
  ["kev", "Known to be exploited"],
  ["fixable", "With a version that fixes it"],
] as const;

/** The vulnerabilities of an image. */
export function Findings({ chosen: { place, digest, manifest } }: { chosen: Chosen }) {
  const { severity, state, only, layer, query: letters } = route.useSearch();
  const minSeverity = severityOf(severity);
  const input: ListFindingsRequest = {
    repo: place.repoUid,
    digest,
    pageSize: PAGE_SIZE,
    state: state === "closed" ? "FINDING_STATE_CLOSED" : "FINDING_STATE_OPEN",
    ...(minSeverity && { minSeverity }),
    ...(only === "kev" && { kev: true }),
    ...(only === "fixable" && { fixable: true }),
    ...(letters && { query: letters }),
  };
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    listQuery(listFindings, input),
  );
  const all = data?.pages.flatMap(({ findings }) => findings) ?? [];
  const layers = sizedLayers(manifest?.json, undefined).map((each) => each.digest);
  const { rows, unplaced } = inLayer(all, layer, ({ locations }) => ({ layers: locations.map((each) => each.layer) }));
  // The server does not filter by layer: the pages that follow are read, up to a limit.
  const readsOn = layer !== undefined && hasNextPage && !isFetchingNextPage && all.length < MAX_FILTERED;
  useEffect(() => {
    if (readsOn) void fetchNextPage();
  }, [readsOn, fetchNextPage]);
  const note = layerNote({
    layer,
    known: manifest && layers,
    unplaced,
    word: "finding",
    readOnly: hasNextPage ? all.length : undefined,
  });
  const notCompared = data?.pages[0]?.notCompared ?? 0;
  const unknown = data?.pages.flatMap(({ unknownImages }) => unknownImages) ?? [];
  // Of a part nobody knows what the whole looks like.
  const isWhole = rows.length > 0 && !hasNextPage;
  return (
    <Section title="Findings">
      {isWhole && <SeverityBar counts={countSeverities(rows)} />}
      {isWhole && state !== "closed" && <FixFirst findings={rows} />}
      <Filters />
      <ErrorNote error={error} />
      {isPending && <p role="status">Reading the findings…</p>}
      {note !== "" && <Note>{note}</Note>}
      <NotKnown images={unknown} />
      <NotCompared repo={place.repoUid} digest={digest} count={notCompared} />
      <StaleFeeds feeds={data?.pages.flatMap(({ staleFeeds }) => staleFeeds) ?? []} />
      {data !== undefined && unknown.length === 0 && rows.length === 0 && !hasNextPage ? (
        <Empty
          title={notCompared > 0 ? "No findings in the packages that can be compared" : "No findings"}
          command="moorage feeds list"
        >
          {notCompared > 0 ? "None of these packages has" : "No package of this image has"} a vulnerability that the
          feeds of this server know and these filters let through. Whoever runs the server sees how old the feeds are:
        </Empty>
      ) : (
        data !== undefined && (
          <FindingTable
            rows={rows}
            layers={layers}
            onMore={hasNextPage ? () => void fetchNextPage() : undefined}
            isLoadingMore={isFetchingNextPage}
          />
        )
      )}
    </Section>
  );
}

function Filters() {
  const { severity, state, only, query: letters } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (change: Record<string, string | undefined>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  return (
    <Toolbar>
      <SearchBox
        label="Find findings"
        placeholder="CVE or package"
        value={letters}
        onSearch={(text) => set({ query: text || undefined })}
      />
      <FilterChip
        label="Severity"
        value={severity || undefined}
        options={SEVERITIES.map((each) => [each, `${capital(each)}${each === "CRITICAL" ? "" : " or worse"}`])}
        onValue={(value) => set({ severity: value })}
      />
      <FilterChip
        label="State"
        none="Open"
        value={state || undefined}
        options={[["closed", "Closed"]]}
        onValue={(value) => set({ state: value })}
      />
      <FilterChip
        label="Only"
        none="All"
        value={only || undefined}
        options={ONLY}
        onValue={(value) => set({ only: value })}
      />
    </Toolbar>
  );
}

const capital = (word: string): string => word.charAt(0) + word.slice(1).toLowerCase();
