import { useQuery } from "@tanstack/react-query";
import type { GroupUsage, ListUsageResponse } from "../../../api/gen/registry.ts";
import { bytes, counted } from "../../../lib/bytes.ts";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Panel, PanelBody } from "../../../ui/panel.tsx";
import { PeriodBars } from "../../../ui/period-bars.tsx";
import { storageDaysQuery } from "../queries.ts";
import { growthWords, periodLabel, periodName } from "../usage/usage-words.ts";
import styles from "./storage-page.module.css";
import { growthOf, type StoredDay, storedDays } from "./storage-sums.ts";

/** What a group, or all groups together, took up at the end of each of the last 30 days. */
export function Growth({ group }: { group: string }) {
  const { data, error } = useQuery(storageDaysQuery(group));
  return (
    <Panel title="Growth of images, 30 days">
      <PanelBody>
        <div className={styles.body}>
          <ErrorNote error={error} />
          {data !== undefined && <Days answer={data} group={group} />}
        </div>
      </PanelBody>
    </Panel>
  );
}

function Days({ answer: { usage, nextPageToken }, group }: { answer: ListUsageResponse; group: string }) {
  const isAll = group === "";
  const rows = isAll ? usage : usage.filter(({ groupUid }) => groupUid === group);
  const groups = new Set(rows.map(({ groupUid }) => groupUid)).size;
  if (groups === 0)
    return <p className={styles.quiet}>Not known: you need CAP_USAGE_LIST on a group to see its usage.</p>;
  const isWhole = !isAll || nextPageToken === "";
  const days = storedDays(rows, isWhole);
  const unknown = days.filter(({ bytes: size }) => size === undefined).length;
  const growth = growthOf(days);
  return (
    <>
      <PeriodBars
        label="Stored by day"
        bars={days.map((each, at) => ({
          id: each.day,
          label: periodLabel(each.day, at, days.length),
          name: periodName(each.day),
          value: each.bytes,
          isPartial: each.isPartial,
          text: wordsOf(each),
        }))}
      />
      <p className={styles.quiet}>
        {growth === undefined
          ? "Growth is not known yet: it takes two measured days."
          : `${growthWords({ growth: String(growth.bytes) } as GroupUsage)} since ${periodName(growth.since)}.`}
        {unknown > 0 && ` ${counted(unknown, "day")} of ${days.length} ${unknown === 1 ? "was" : "were"} not measured.`}
        {groups > 1 && ` Summed over ${isWhole ? "" : "the first "}${counted(groups, "group")}.`}
      </p>
    </>
  );
}

function wordsOf({ bytes: size, isPartial }: StoredDay): string {
  if (size === undefined) return "not measured";
  return `${isPartial ? "at least " : ""}${bytes(size)}`;
}
