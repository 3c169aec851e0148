import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useRightsInAny } from "../../lib/rights.ts";
import { DayChart, type DaySeries } from "../../ui/day-chart.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Panel, PanelBody } from "../../ui/panel.tsx";
import { findingDays, firstPullDay, pullDays } from "./days.ts";
import styles from "./home-page.module.css";
import { findingDaysQuery, pullDaysQuery } from "./queries.ts";

const SEVERITIES: readonly DaySeries[] = [
  { name: "Critical", tone: "critical" },
  { name: "High", tone: "high" },
  { name: "Medium", tone: "medium" },
  { name: "Low", tone: "low" },
];
const OTHER: DaySeries = { name: "Other", tone: "other" };
const PULLS: readonly DaySeries[] = [{ name: "Pulls", tone: "accent" }];

/** Open findings at the end of each of the last 90 days. */
export function FindingsOverTime({ group }: { group: string | undefined }) {
  const { data, error } = useQuery(findingDaysQuery(group));
  const days = data && findingDays(data.days);
  const last = data?.days.at(-1);
  const hasOthers = days?.some(({ values }) => (values?.at(-1) ?? 0) > 0);
  const unknown = last?.unknownImages ?? 0;
  return (
    <Panel title="Open findings by severity, 90 days">
      <PanelBody>
        <div className={styles.chart}>
          {error && <ErrorNote error={error} />}
          {days?.some(({ values }) => values !== undefined) && (
            <DayChart label="Open findings" series={hasOthers ? [...SEVERITIES, OTHER] : SEVERITIES} days={days} />
          )}
          {days?.every(({ values }) => values === undefined) && (
            <p className={styles.quiet}>Not counted yet. Findings are counted once an hour.</p>
          )}
          {unknown > 0 && (
            <p className={styles.quiet}>
              {last?.unknownAtLeast ? "At least " : ""}
              {unknown} {unknown === 1 ? "image is" : "images are"} not in it: their findings are not known.
            </p>
          )}
        </div>
      </PanelBody>
    </Panel>
  );
}

/** Pulls by day, of an organization, or of those together of which the person may see them. */
export function PullsOverTime({ group, organizations }: { group: string | undefined; organizations: string[] }) {
  const [nowMs] = useState(() => Date.now());
  const reason = useRightsInAny(group === undefined ? organizations : [group])("CAP_USAGE_LIST");
  const { data, error } = useQuery({ ...pullDaysQuery(group, firstPullDay(nowMs)), enabled: reason === undefined });
  return (
    <Panel title="Pulls, 30 days">
      <PanelBody>
        {error && <ErrorNote error={error} />}
        {reason !== undefined && <p className={styles.quiet}>{reason}</p>}
        {data && data.coverage?.since === undefined && <p className={styles.quiet}>Pulls are not counted here.</p>}
        {data?.coverage?.since !== undefined && (
          <DayChart label="Pulls" series={PULLS} days={pullDays(data, nowMs)} addsUp />
        )}
      </PanelBody>
    </Panel>
  );
}
