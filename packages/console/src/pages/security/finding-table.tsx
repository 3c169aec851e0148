import { Link } from "@tanstack/react-router";
import type { Finding } from "../../api/gen/vulnerabilities.ts";
import { shortDigest } from "../../lib/digest.ts";
import { Badge } from "../../ui/badge.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Row } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { SeverityBadge } from "./severity.tsx";
import { decisionWords } from "./words.ts";

export interface FindingTableProps {
  rows: readonly Finding[];
  onMore: (() => void) | undefined;
  isLoadingMore: boolean;
}

const COLUMNS: readonly Column<Finding>[] = [
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
        {decisionWords(finding)}
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
  { id: "epss", header: "EPSS", isMinor: true, align: "end", cell: ({ epss }) => percent(epss) },
  {
    id: "layer",
    header: "Layer",
    isMinor: true,
    cell: ({ locations: [first] }) => (
      <code title={`${first?.layer ?? ""} ${first?.path ?? ""}`.trim()}>{shortDigest(first?.layer ?? "")}</code>
    ),
  },
  { id: "since", header: "Since", isMinor: true, cell: ({ openTime }) => <Time value={openTime} /> },
];

/** Findings of one image, with where they come from and what is said of them. */
export function FindingTable({ rows, onMore, isLoadingMore }: FindingTableProps) {
  return (
    <DataTable
      label="Findings"
      rowWord="finding"
      rows={rows}
      columns={COLUMNS}
      idOf={findingId}
      onMore={onMore}
      isLoadingMore={isLoadingMore}
    />
  );
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
