import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { GroupUsage } from "../../../api/gen/registry.ts";
import { CoverageNote } from "../../pulls/coverage-note.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { FilterChip } from "../../../ui/filter-chip.tsx";
import { Numbers } from "../../../ui/numbers.tsx";
import { Page, Section } from "../../../ui/page.tsx";
import { PeriodBars } from "../../../ui/period-bars.tsx";
import { Panel, PanelBody } from "../../../ui/panel.tsx";
import { Segmented } from "../../../ui/segments.tsx";
import { Toolbar } from "../../../ui/toolbar.tsx";
import { GroupChip } from "../../access/parts/group-chip.tsx";
import { usePaths } from "../../access/parts/data.ts";
import { usageQuery } from "./queries.ts";
import { UsageExport } from "./usage-export.tsx";
import { UsageTable } from "./usage-table.tsx";
import { byGroup, growthWords, periodLabel, periodName, pullWords, sizeWords, trafficWords } from "./usage-words.ts";

const route = getRouteApi("/shell/operations/usage");
const BY = [
  ["month", "By month"],
  ["day", "By day"],
] as const;

/** `/operations/usage`: what groups take up and transfer, by month or day. */
export function UsagePage() {
  const search = route.useSearch();
  const { group = "", by, period: wanted } = search;
  const navigate = route.useNavigate();
  const paths = usePaths();
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useSuspenseInfiniteQuery(usageQuery(search));
  const groups = byGroup(data.pages.flatMap(({ usage }) => usage));
  // What has only one choice is chosen.
  const main = groups.find(([{ groupUid }]) => groupUid === group) ?? (groups.length === 1 ? groups[0] : undefined);
  const periods = (groups[0] ?? []).map(({ period }) => period).toReversed();
  const period = periods.find((each) => each === wanted) ?? periods[0] ?? "";
  const rows = groups.flatMap((all) => all.filter((row) => row.period === period));
  const now = main?.find((row) => row.period === period);
  const set = (change: Record<string, string | undefined>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  return (
    <Page
      title="Usage"
      lede={`What ${paths.get(group) ?? "each group"} uses and how much is pulled from it, including everything below it.`}
      actions={<UsageExport search={search} />}
    >
      <Toolbar
        end={
          <Segmented
            label="Periods"
            value={by === "day" ? "day" : "month"}
            options={BY}
            onValue={(value) => set({ by: value === "day" ? value : undefined, period: undefined })}
          />
        }
      >
        <GroupChip group={group} onGroup={(uid) => set({ group: uid })} />
        <FilterChip
          label={by === "day" ? "Day" : "Month"}
          none="The current one"
          value={wanted}
          options={periods.map((each) => [each, periodName(each)])}
          onValue={(value) => set({ period: value })}
        />
      </Toolbar>
      <CoverageNote coverage={data.pages[0]?.coverage} />
      {groups.length === 0 ? (
        <Empty title="Nothing that you can see" command="moorage usage list acme">
          You need CAP_USAGE_LIST on a group to see its usage.
        </Empty>
      ) : (
        <>
          {now !== undefined && <Facts row={now} />}
          {main !== undefined && <Traffic rows={main} isDays={by === "day"} />}
          <Section title={`By group, ${periodName(period)}`}>
            <UsageTable
              rows={rows}
              group={group}
              by={by}
              onMore={hasNextPage ? () => void fetchNextPage() : undefined}
              isLoadingMore={isFetchingNextPage}
            />
          </Section>
        </>
      )}
    </Page>
  );
}

function Facts({ row }: { row: GroupUsage }) {
  const when = periodName(row.period);
  return (
    <Numbers
      facts={[
        { label: "Storage", value: sizeWords(row), note: row.bytes === undefined ? "not measured then" : when },
        {
          label: "Growth",
          value: growthWords(row),
          note: row.growth === undefined ? "one measurement is missing" : "since the measurement before",
        },
        { label: "Pulls", value: pullWords(row), note: row.pulls === undefined ? "not counted then" : when },
        {
          label: "Traffic",
          value: trafficWords(row),
          note: row.trafficBytes === undefined ? "not counted then" : when,
        },
      ]}
    />
  );
}

function Traffic({ rows, isDays }: { rows: readonly GroupUsage[]; isDays: boolean }) {
  return (
    <Panel title={isDays ? "Traffic by day" : "Traffic by month"}>
      <PanelBody>
        <PeriodBars
          label={isDays ? "Traffic by day" : "Traffic by month"}
          bars={rows.map((row, at) => ({
            id: row.period,
            label: periodLabel(row.period, at, rows.length),
            name: periodName(row.period),
            value: row.trafficBytes === undefined ? undefined : Number(row.trafficBytes),
            isPartial: row.incomplete,
            text: trafficWords(row),
          }))}
        />
      </PanelBody>
    </Panel>
  );
}
