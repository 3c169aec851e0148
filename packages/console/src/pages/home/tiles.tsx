import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { bytes, count } from "../../lib/bytes.ts";
import { useRightsInAny } from "../../lib/rights.ts";
import { Sparkline } from "../../ui/sparkline.tsx";
import { StatTile, StatTiles } from "../../ui/stat-tile.tsx";
import { storageDaysQuery } from "../operations/queries.ts";
import { storedDays } from "../operations/storage/storage-sums.ts";
import { findingDays, firstPullDay, pullDays } from "./days.ts";
import { findingDaysQuery, pullDaysQuery } from "./queries.ts";
import { changeOfDay, endsOf, trafficDays, type Trend, trendOf } from "./trends.ts";

const NOT_KNOWN = "–";

interface TilesProps {
  group: string | undefined;
  /** Those in which the person's permissions are asked for. */
  organizations: string[];
}

/** The numbers that Home begins with, each with how it came to be. What is not known is no 0. */
export function Tiles({ group, organizations }: TilesProps) {
  const [nowMs] = useState(() => Date.now());
  const reason = useRightsInAny(group === undefined ? organizations : [group])("CAP_USAGE_LIST");
  const mayList = reason === undefined;
  const open = useQuery(findingDaysQuery(group)).data;
  const pulls = useQuery({ ...pullDaysQuery(group, firstPullDay(nowMs)), enabled: mayList }).data;
  const usage = useQuery({ ...storageDaysQuery(group ?? ""), enabled: mayList }).data;
  const rows = usage?.usage.filter(({ groupUid }) => group === undefined || groupUid === group);
  const isWhole = group !== undefined || usage?.nextPageToken === "";
  const stored = rows && storedDays(rows, isWhole);
  const traffic = rows && trafficDays(rows);
  const unseen = "You may not list usage here";
  return (
    <StatTiles>
      <Findings trend={open && trendOf(findingDays(open.days))} />
      <DayTile
        label="Pulls, yesterday"
        trend={pulls && (pulls.coverage?.since === undefined ? [] : trendOf(pullDays(pulls, nowMs)))}
        {...(!mayList && { note: unseen })}
        words={count}
      />
      <Stored
        trend={stored?.map((each) => each.bytes)}
        isPartial={stored?.findLast((each) => each.bytes !== undefined)?.isPartial ?? false}
        {...(!mayList && { note: unseen })}
      />
      <DayTile
        label="Traffic, yesterday"
        trend={traffic?.map((each) => each.bytes)}
        {...(!mayList && { note: unseen })}
        words={bytes}
      />
    </StatTiles>
  );
}

function Findings({ trend }: { trend: Trend | undefined }) {
  const last = trend?.findLast((each) => each !== undefined);
  const ends = trend && endsOf(trend);
  return (
    <StatTile
      label="Open findings"
      value={trend && (last === undefined ? NOT_KNOWN : count(last))}
      note={trend && (last === undefined ? "not counted yet" : (ends && changeWords(ends, count)) || "counted once")}
      trend={trend && <Line trend={trend} words={count} />}
    />
  );
}

function Stored({ trend, isPartial, note }: { trend: Trend | undefined; isPartial: boolean; note?: string }) {
  const last = trend?.findLast((each) => each !== undefined);
  const ends = trend && endsOf(trend);
  const change = ends ? changeWords(ends, bytes) : "measured once";
  return (
    <StatTile
      label="Storage"
      value={note === undefined ? trend && (last === undefined ? NOT_KNOWN : bytes(last)) : NOT_KNOWN}
      note={note ?? (trend && (last === undefined ? "not measured yet" : `${isPartial ? "at least; " : ""}${change}`))}
      trend={trend && <Line trend={trend} words={bytes} />}
    />
  );
}

interface DayTileProps {
  label: string;
  trend: Trend | undefined;
  /** In place of the number, where there is none. */
  note?: string;
  words: (value: number) => string;
}

/** What the last whole day had. */
function DayTile({ label, trend, note, words }: DayTileProps): ReactNode {
  const yesterday = trend?.at(-2);
  const change = trend && changeOfDay(trend);
  return (
    <StatTile
      label={label}
      value={note === undefined ? trend && (yesterday === undefined ? NOT_KNOWN : words(yesterday)) : NOT_KNOWN}
      note={note ?? (trend && (yesterday === undefined ? "not counted" : change && `${change} on the day before`))}
      trend={trend && <Line trend={trend} words={words} />}
    />
  );
}

function Line({ trend, words }: { trend: Trend; words: (value: number) => string }) {
  const ends = endsOf(trend);
  if (ends === undefined) return null;
  return <Sparkline label={`${ends.days} days, from ${words(ends.first)} to ${words(ends.last)}`} values={trend} />;
}

function changeWords(
  { first, last, days }: { first: number; last: number; days: number },
  words: (value: number) => string,
): string {
  const sign = last < first ? "−" : "+";
  return last === first ? `unchanged in ${days} days` : `${sign}${words(Math.abs(last - first))} in ${days} days`;
}
