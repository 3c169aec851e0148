import { Flame, ScanSearch } from "lucide-react";
import { useState } from "react";
import { Avatar } from "../ui/avatar.tsx";
import { Badge } from "../ui/badge.tsx";
import { BarList } from "../ui/bar-list.tsx";
import { Button } from "../ui/button.tsx";
import { Chips, PlatformChip, TagChip } from "../ui/chips.tsx";
import type { Column } from "../ui/column.ts";
import { Columns, SideFacts, SidePart } from "../ui/columns.tsx";
import { DayChart } from "../ui/day-chart.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { DigestChip } from "../ui/digest-chip.tsx";
import { Empty } from "../ui/empty.tsx";
import { Meter } from "../ui/meter.tsx";
import { Numbers } from "../ui/numbers.tsx";
import { Panel, PanelBody } from "../ui/panel.tsx";
import { PeriodBars } from "../ui/period-bars.tsx";
import { SelectionBar } from "../ui/selection-bar.tsx";
import { SeverityBar } from "../ui/severity-bar.tsx";
import { SeverityHead, SeverityStrip } from "../ui/severity-strip.tsx";
import { ShortTable } from "../ui/short-table.tsx";
import { PageSkeleton } from "../ui/skeleton.tsx";
import { Sparkline } from "../ui/sparkline.tsx";
import { StatTile, StatTiles } from "../ui/stat-tile.tsx";
import { Trail } from "../ui/trail.tsx";
import { Piece } from "./piece.tsx";

const LOOKS = [
  "plain",
  "outline",
  "accent",
  "success",
  "warning",
  "danger",
  "critical",
  "high",
  "medium",
  "low",
] as const;
const NONE = { critical: 0, high: 0, medium: 0, low: 0, other: 0 };
const SOME = { critical: 1, high: 4, medium: 14, low: 25, other: 0 };
const ODD = { critical: 128, high: 0, medium: 1, low: 200, other: 2 };
const SEVERITIES = [
  { name: "Critical", tone: "critical" },
  { name: "High", tone: "high" },
  { name: "Medium", tone: "medium" },
  { name: "Low", tone: "low" },
] as const;
const DAYS = Array.from({ length: 90 }, (_, at) => new Date(Date.UTC(2026, 7, 30 + at)).toISOString().slice(0, 10));
const FINDING_DAYS = DAYS.map((day, at) => ({
  day,
  values: at < 20 || at === 50 ? undefined : [at > 70 ? 4 : 9, 37 - (at % 5), 128, 264 - at],
}));
const PULL_DAYS = DAYS.slice(60).map((day, at) => ({
  day,
  values: at < 3 ? undefined : [(at * 7_919) % 90_000],
  ...(at === 3 && { note: "at least" }),
}));
const DIGEST = `sha256:${"8c80475fa9ba".repeat(5)}abcd`;
const NAMES = ["Mira Okafor", "Jonas Lindqvist", "priya@acme.example", "Tomás Herrera", "lena", "Wei Chen"];
const ROWS = Array.from({ length: 2_000 }, (_, at) => ({ id: String(at), name: `v${at}.${"0".repeat(at % 90)}` }));
type Row = (typeof ROWS)[number];

const COLUMNS: readonly Column<Row>[] = [
  { id: "name", header: "Tag", orderBy: "name", cell: ({ name }) => <a href="#tag">{name}</a> },
  { id: "digest", header: "Digest", isMinor: true, cell: () => <DigestChip digest={DIGEST} /> },
  {
    id: "findings",
    header: "Findings",
    head: <SeverityHead />,
    isMinor: true,
    cell: () => <SeverityStrip counts={SOME} />,
  },
  { id: "age", header: "Updated", align: "end", cell: () => "3 h ago" },
  { id: "actions", header: "Actions", isActions: true, cell: () => <Button isSmall>Compare</Button> },
];
const FEW = COLUMNS.slice(0, 4);

/** What shows data. */
export function DataPieces() {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set(["1"]));
  return (
    <>
      <Piece name="Severity counts">
        <SeverityStrip counts={NONE} />
        <SeverityStrip counts={SOME} />
        <SeverityStrip counts={ODD} isMore />
        <SeverityStrip counts={SOME} isLettered />
      </Piece>
      <Piece name="Severity bar">
        <SeverityBar counts={SOME} />
        <SeverityBar counts={ODD} />
        <SeverityBar counts={NONE} />
      </Piece>
      <Piece name="Values by day">
        <DayChart label="Open findings" series={SEVERITIES} days={FINDING_DAYS} />
        <DayChart label="Pulls" series={[{ name: "Pulls", tone: "accent" }]} days={PULL_DAYS} />
      </Piece>
      <Piece name="Badges">
        {LOOKS.map((look) => (
          <Badge key={look} look={look}>
            {look}
          </Badge>
        ))}
      </Piece>
      <Piece name="Chips">
        <DigestChip digest={DIGEST} />
        <DigestChip digest={DIGEST} href="#image" />
        <Chips>
          <TagChip>latest</TagChip>
          <TagChip href="#tag">{`a-name-${"of-90-letters-".repeat(6)}`}</TagChip>
        </Chips>
        <Chips>
          <PlatformChip>amd64</PlatformChip>
          <PlatformChip>arm64</PlatformChip>
        </Chips>
      </Piece>
      <Piece name="Avatars">
        {NAMES.map((name) => (
          <Avatar key={name} name={name} />
        ))}
        <Avatar name="small" size="small" />
        <Avatar name="large one" size="large" />
        <Avatar name="ci" isMachine />
        <Avatar name="ci" isMachine size="small" />
      </Piece>
      <StatTiles>
        <StatTile label="Images" value="148" note="in 12 groups" />
        <StatTile label="Storage" value="1.37 TiB" note="layers" />
        <StatTile
          label="Pulls, yesterday"
          value="84,211"
          note="+6% on the day before"
          trend={<Sparkline label="from 61,000 to 84,211" values={[61, 64, 62, undefined, undefined, 70, 78, 84]} />}
        />
        <StatTile label="Tags" value={undefined} />
      </StatTiles>
      <Numbers
        facts={[
          { label: "Affected images", value: "3", note: "41 tags" },
          { label: "Fixed in", value: "libxml2 2.13.8" },
          { label: "EPSS", value: "no data" },
        ]}
      />
      <Columns
        side={
          <>
            <SidePart title="What happened" actions={<a href="#all">All</a>}>
              <Trail
                steps={[
                  { title: "Listed as exploited", icon: <Flame size={12} />, look: "critical", when: "Nov 25" },
                  { title: "Found in 3 images", icon: <ScanSearch size={12} />, look: "low", note: "41 tags" },
                ]}
              />
            </SidePart>
            <SidePart title="Sources">
              <SideFacts facts={[["OSV", "CVE-2026-31337"]]} />
            </SidePart>
          </>
        }
      >
        <p>What the page is about.</p>
      </Columns>
      <Panel title="Storage by group" actions={<a href="#all">Details</a>}>
        <PanelBody>
          <BarList
            bars={[
              { id: "1", label: "payments", value: 412, text: "412 GiB" },
              { id: "2", label: "data", value: 120, text: "120 GiB" },
              { id: "3", label: "empty", value: 0, text: "0 B" },
            ]}
          />
        </PanelBody>
      </Panel>
      <Piece name="Meters">
        <Meter text="3 of 200" part={0.015} />
        <Meter text="9.8 GiB of 10 GiB" part={0.98} look="warning" />
        <Meter text="12 of 10" part={1.2} look="danger" />
        <Meter text="12, no limit" part={undefined} />
      </Piece>
      <Panel title="Traffic by month">
        <PanelBody>
          <PeriodBars
            label="Traffic by month"
            bars={[
              { id: "1", label: "Sep", name: "September 2026", value: undefined, text: "not known" },
              { id: "2", label: "Oct", name: "October 2026", value: 40, isPartial: true, text: "at least 40 GiB" },
              { id: "3", label: "Nov", name: "November 2026", value: 120, text: "120 GiB" },
              { id: "4", label: "Dec", name: "December 2026", value: 0, text: "0 B" },
            ]}
          />
        </PanelBody>
      </Panel>
      <Panel title="A short table">
        <ShortTable label="Short table" rows={ROWS.slice(0, 2)} columns={FEW} idOf={({ id }) => id} />
      </Panel>
      <Empty title="No images here yet" command="docker push registry.example.com/acme/web:1.0">
        The first push creates the image.
      </Empty>
      <PageSkeleton />
      <DataTable
        label="Two thousand tags"
        rowWord="tag"
        rows={ROWS}
        columns={COLUMNS}
        idOf={({ id }) => id}
        total={ROWS.length}
        order="name"
        onOrder={() => setSelected(new Set())}
        selected={selected}
        onSelect={setSelected}
      />
      <SelectionBar count={selected.size} onClear={() => setSelected(new Set())}>
        <Button look="quiet">Compare</Button>
        <Button look="danger">Delete</Button>
      </SelectionBar>
    </>
  );
}
