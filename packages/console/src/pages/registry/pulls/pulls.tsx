import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { isCode } from "../../../api/call.ts";
import { bytes, count } from "../../../lib/bytes.ts";
import { CoverageNote } from "../../pulls/coverage-note.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Numbers } from "../../../ui/numbers.tsx";
import { Panel, PanelBody } from "../../../ui/panel.tsx";
import { PeriodBars } from "../../../ui/period-bars.tsx";
import { Time } from "../../../ui/time.tsx";
import { dayBars, isWhole } from "./pull-days.ts";
import { allPullsQuery, DAYS, pullsByDayQuery, shownDays } from "./queries.ts";
import { PullsBy } from "./pulls-by.tsx";

/** Who still uses an image: its pulls by day, by tag and by who pulled, as far as they were counted. */
export function Pulls({ repoUid }: { repoUid: string }) {
  const [nowMs] = useState(() => Date.now());
  const { data, error, isPending } = useQuery(pullsByDayQuery(repoUid, nowMs));
  const all = useQuery(allPullsQuery(repoUid));
  if (isCode(error, "PERMISSION_DENIED") || isCode(error, "NOT_FOUND"))
    return (
      <Empty title="You cannot see how often this is pulled">
        You need CAP_USAGE_LIST here. Anyone who can assign roles on this group can grant it.
      </Empty>
    );
  if (isPending) return <p role="status">Reading the pulls…</p>;
  if (data === undefined) return <ErrorNote error={error} />;
  const bars = dayBars(shownDays(nowMs), data.pulls, data.coverage);
  const pulls = data.pulls.reduce((sum, each) => sum + Number(each.count), 0);
  const traffic = data.pulls.reduce((sum, each) => sum + Number(each.bytes), 0);
  const isKnown = data.coverage?.since !== undefined;
  const atLeast = isWhole(bars) ? "" : "at least ";
  const last = all.data?.pulls[0]?.lastTime;
  return (
    <>
      <CoverageNote coverage={data.coverage} />
      <Numbers
        facts={[
          {
            label: `Pulls, ${DAYS} days`,
            value: isKnown ? `${atLeast}${count(pulls)}` : "not known",
            note: "manifests, by tag or digest",
          },
          {
            label: "Last pull",
            value: all.isPending ? "…" : <Time value={last} none={isKnown ? "none counted" : "not known"} />,
            note: last === undefined ? "since pulls are counted" : "of any tag",
          },
          {
            label: `Traffic, ${DAYS} days`,
            value: isKnown ? `${atLeast}${bytes(traffic)}` : "not known",
            note: "with layers",
          },
        ]}
      />
      <Panel title="Pulls by day">
        <PanelBody>
          <PeriodBars label="Pulls by day" bars={bars} />
        </PanelBody>
      </Panel>
      {isKnown && (
        <>
          <PullsBy repoUid={repoUid} nowMs={nowMs} grouping="PULL_GROUPING_TAG" />
          <PullsBy repoUid={repoUid} nowMs={nowMs} grouping="PULL_GROUPING_IDENTITY" />
        </>
      )}
    </>
  );
}
