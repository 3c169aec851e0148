import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Finding } from "../../api/gen/vulnerabilities.ts";
import { shortDigest } from "../../lib/digest.ts";
import { Badge } from "../../ui/badge.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Meter } from "../../ui/meter.tsx";
import { Row } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { LayerMark } from "./layer-mark.tsx";
import { SeverityBadge } from "./severity.tsx";
import { StateBadge } from "./state-badge.tsx";
import { decisionWords } from "./words.ts";

/** From this probability on the bar of EPSS is red. */
const LIKELY = 0.5;

export interface FindingTableProps {
  rows: readonly Finding[];
  /** The digests of the image's layers, the first one at the bottom; empty while they are not known. */
  layers: readonly string[];
  onMore: (() => void) | undefined;
  isLoadingMore: boolean;
}

const columnsOf = (layers: readonly string[]): readonly Column<Finding>[] => [
  {
    id: "vulnerability",
    header: "Vulnerability",
    cell: ({ vulnerability, severity, score, kev }) => (
      <Row>
        <Link to="/vulnerability" search={{ id: vulnerability }}>
          {vulnerability}
        </Link>
        <SeverityBadge severity={severity} score={score} />
        {kev && <Badge look="critical">Exploited</Badge>}
      </Row>
    ),
  },
  {
    id: "package",
    header: "Package",
    cell: ({ package: found }) => (
      <span title={found?.purl}>
        {found?.name} {found?.version}
      </span>
    ),
  },
  { id: "fix", header: "Fixed in", cell: fixWords },
  {
    id: "decision",
    header: "Status",
    isMinor: true,
    cell: (finding) => (
      <>
        {decisionWords(finding) || <StateBadge state={finding.state} />}
        {finding.decision?.advisory ? (
          <>
            {" "}
            <Link to="/advisory" search={{ uid: finding.decision.advisory }}>
              {finding.decision.advisoryId}
            </Link>
          </>
        ) : null}
      </>
    ),
  },
  {
    id: "epss",
    header: "EPSS",
    isMinor: true,
    cell: ({ epss }) =>
      epss === undefined ? "" : <Meter text={percent(epss)} part={epss} look={epss >= LIKELY ? "danger" : "plain"} />,
  },
  { id: "layer", header: "Layer", isMinor: true, cell: (finding) => <Layer finding={finding} layers={layers} /> },
  { id: "since", header: "Since", isMinor: true, cell: ({ openTime }) => <Time value={openTime} /> },
];

/** Findings of one image, with where they come from and what is said of them. */
export function FindingTable({ rows, layers, onMore, isLoadingMore }: FindingTableProps) {
  const known = layers.join(" ");
  const columns = useMemo(() => columnsOf(known === "" ? [] : known.split(" ")), [known]);
  return (
    <DataTable
      label="Findings"
      rowWord="finding"
      rows={rows}
      columns={columns}
      idOf={findingId}
      onMore={onMore}
      isLoadingMore={isLoadingMore}
    />
  );
}

/** In which of the image's layers the package is: the first one that has it. */
function Layer({ finding: { locations }, layers }: { finding: Finding; layers: readonly string[] }) {
  const [first] = locations;
  const title = `${first?.layer ?? ""} ${first?.path ?? ""}`.trim();
  const at = layers.indexOf(first?.layer ?? "");
  if (at < 0) return <code title={title}>{shortDigest(first?.layer ?? "")}</code>;
  return <LayerMark at={at} of={layers.length} title={title} />;
}

/** What sets a finding apart from others of a list. */
export function findingId({ repo, digest, package: found, vulnerability, openTime }: Finding): string {
  return [repo, digest, found?.purl, found?.version, vulnerability, openTime].join(" ");
}

/** What is known of a fix. */
export function fixWords({ fixState, fixVersions }: Finding): string {
  if (fixVersions.length > 0) return fixVersions.join(", ");
  return fixState === "FIX_STATE_WONT_FIX" ? "will not be fixed" : "none known";
}

/** A probability as per cent. */
export function percent(value: number | undefined): string {
  return value === undefined ? "" : `${(value * 100).toFixed(value < 0.01 ? 2 : 1)} %`;
}
