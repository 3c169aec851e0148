import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Finding } from "../../api/gen/vulnerabilities.ts";
import { repoPathQuery } from "./repo-path.ts";
import { shortDigest } from "../../lib/digest.ts";
import { Badge } from "../../ui/badge.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Row } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { findingId, fixWords } from "./finding-table.tsx";
import { SeverityBadge } from "./severity.tsx";
import { StateBadge } from "./state-badge.tsx";
import { decisionWords } from "./words.ts";

export interface HitTableProps {
  rows: readonly Finding[];
  onMore: (() => void) | undefined;
  isLoadingMore: boolean;
}

/** Findings of several images: which vulnerability hits which tags, since when, and which version ends it. */
export function HitTable({ rows, onMore, isLoadingMore }: HitTableProps) {
  const uids = [...new Set(rows.map(({ repo }) => repo))];
  const found = useQueries({ queries: uids.map(repoPathQuery) });
  const paths = new Map(uids.map((uid, at) => [uid, found[at]?.data ?? ""]));
  return (
    <DataTable
      label="Affected tags"
      rowWord="finding"
      rows={rows}
      idOf={findingId}
      onMore={onMore}
      isLoadingMore={isLoadingMore}
      columns={[
        {
          id: "image",
          header: "Image",
          cell: ({ repo, digest, tags }) => <Images path={paths.get(repo) ?? ""} digest={digest} tags={tags} />,
        },
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
          isMinor: true,
          cell: ({ package: each }) => (
            <span title={each?.purl}>
              {each?.name} {each?.version}
            </span>
          ),
        },
        { id: "fix", header: "Fixed in", cell: fixWords },
        { id: "since", header: "Since", isMinor: true, cell: ({ openTime }) => <Time value={openTime} /> },
        {
          id: "decision",
          header: "Status",
          isMinor: true,
          cell: (finding) => decisionWords(finding) || <StateBadge state={finding.state} />,
        },
      ]}
    />
  );
}

function Images({ path, digest, tags }: { path: string; digest: string; tags: readonly string[] }) {
  if (path === "") return <code>{shortDigest(digest)}</code>;
  if (tags.length === 0)
    return (
      <Link to="/image" search={{ name: `${path}@${digest}`, part: "findings" }}>
        {path}@{shortDigest(digest)}
      </Link>
    );
  return tags.map((tag, at) => (
    <span key={tag}>
      {at > 0 && ", "}
      <Link to="/image" search={{ name: `${path}:${tag}`, part: "findings" }}>
        {path}:{tag}
      </Link>
    </span>
  ));
}
