import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { LibraryFinding } from "../../api/gen/libraries.ts";
import { counted } from "../../lib/bytes.ts";
import { Badge } from "../../ui/badge.tsx";
import type { Column } from "../../ui/column.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Note } from "../../ui/note.tsx";
import { Row } from "../../ui/page.tsx";
import { tabCount } from "../../ui/tabs.tsx";
import { percent } from "../security/finding-table.tsx";
import { StaleFeeds } from "../security/knowledge.tsx";
import { SeverityBadge } from "../security/severity.tsx";
import { packageFindingsQuery } from "./queries.ts";

const COLUMNS: readonly Column<LibraryFinding>[] = [
  {
    id: "vulnerability",
    header: "Vulnerability",
    cell: ({ vulnerability, severity, score, kev, malware }) => (
      <Row>
        <Link to="/vulnerability" search={{ id: vulnerability }}>
          {vulnerability}
        </Link>
        {malware ? <Badge look="critical">Malware</Badge> : <SeverityBadge severity={severity} score={score} />}
        {kev && <Badge look="critical">Exploited</Badge>}
      </Row>
    ),
  },
  { id: "version", header: "In version", cell: ({ version }) => version },
  { id: "fix", header: "Fixed in", cell: ({ fixVersions }) => fixVersions.join(", ") || "none known" },
  { id: "epss", header: "EPSS", align: "end", isMinor: true, cell: ({ epss }) => percent(epss) || "no data" },
  { id: "summary", header: "What it is", isMinor: true, cell: ({ summary }) => summary },
];

/** How many findings there are, or that it is not known: never a number alone where versions were not compared. */
export function FindingsCount({ uid }: { uid: string }) {
  const { data } = useInfiniteQuery(packageFindingsQuery(uid));
  const first = data?.pages[0];
  if (first === undefined) return null;
  if (!isRead(first.coverage)) return <Badge>no data</Badge>;
  if (first.notComparedTotal > 0 && first.libraryFindings.length === 0) return <Badge>not compared</Badge>;
  return tabCount(`${first.libraryFindings.length}`);
}

/** What is wrong with the versions of the package, and of which it is not known. */
export function PackageFindings({ uid }: { uid: string }) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    packageFindingsQuery(uid),
  );
  const first = data?.pages[0];
  const rows = data?.pages.flatMap(({ libraryFindings }) => libraryFindings) ?? [];
  if (isPending) return <p role="status">Reading the findings…</p>;
  if (first === undefined) return <ErrorNote error={error} />;
  const preset = first.coverage.find((each) => each.state !== "KNOWLEDGE_STATE_READ")?.preset ?? "";
  if (!isRead(first.coverage))
    return (
      <Empty title="Not known: no data" {...(preset !== "" && { command: `moorage feeds add ${preset}` })}>
        No feed on this server covers this registry, so the package's vulnerabilities are not known. An operator can add
        one:
      </Empty>
    );
  return (
    <>
      <StaleFeeds feeds={first.staleFeeds} />
      {first.notComparedTotal > 0 && (
        <Note look="warning">
          Nothing is known of {counted(first.notComparedTotal, "version")} that cannot be compared with those of
          records: {first.notCompared.map(({ version }) => version).join(", ")}
        </Note>
      )}
      {rows.length === 0 && !hasNextPage ? (
        <Empty title={first.notComparedTotal > 0 ? "No findings in the versions that can be compared" : "No findings"}>
          The feeds of this server know no vulnerability in any version of the package.
        </Empty>
      ) : (
        <DataTable
          label="Findings"
          rowWord="finding"
          rows={rows}
          columns={COLUMNS}
          idOf={({ vulnerability, artifactVersion }) => `${artifactVersion} ${vulnerability}`}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
        />
      )}
    </>
  );
}

function isRead(coverage: readonly { state: string }[]): boolean {
  return coverage.length > 0 && coverage.every(({ state }) => state === "KNOWLEDGE_STATE_READ");
}
