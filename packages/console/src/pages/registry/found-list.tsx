import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SearchResult } from "../../api/gen/registry.ts";
import { shortDigest } from "../../lib/digest.ts";
import { Badge } from "../../ui/badge.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Time } from "../../ui/time.tsx";
import { hitOf } from "./hit.ts";
import { foundQuery } from "./queries.ts";

const COLUMNS: readonly Column<SearchResult>[] = [
  { id: "kind", header: "What", cell: (result) => <Badge>{hitOf(result).kind}</Badge> },
  { id: "where", header: "Where", cell: (result) => <HitLink result={result} /> },
  {
    id: "match",
    header: "Found",
    isMinor: true,
    cell: ({ tag, digest, labelKey, labelValue }) =>
      labelKey !== "" ? `${labelKey}=${labelValue}` : tag !== "" ? tag : digest === "" ? "" : shortDigest(digest),
  },
  { id: "time", header: "Changed", isMinor: true, cell: ({ updateTime }) => <Time value={updateTime} /> },
];

/** What the server finds by a few letters. */
export function FoundList({ text, group }: { text: string; group: string | undefined }) {
  const list = useInfiniteQuery(foundQuery(text, group));
  const results = list.data?.pages.flatMap((page) => page.results) ?? [];
  if (list.error !== null) return <ErrorNote error={list.error} />;
  if (results.length === 0 && !list.hasNextPage && !list.isPending)
    return (
      <Empty title={`Nothing was found for “${text}”`}>
        Part of a name is enough: of an image or a tag, the first four digits of a digest, or of a label as key=value.
      </Empty>
    );
  return (
    <DataTable
      label="Search results"
      rowWord="result"
      rows={results}
      columns={COLUMNS}
      idOf={(result) => hitOf(result).id}
      onMore={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
      isLoadingMore={list.isFetchingNextPage || list.isPending}
    />
  );
}

function HitLink({ result }: { result: SearchResult }) {
  const { text, href } = hitOf(result);
  return result.kind === "SEARCH_KIND_REPO" ? (
    <Link to="/repo" search={{ name: result.name }}>
      {text}
    </Link>
  ) : (
    <a href={href}>{text}</a>
  );
}
