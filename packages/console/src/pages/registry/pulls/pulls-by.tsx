import { useInfiniteQuery } from "@tanstack/react-query";
import { isCode } from "../../../api/call.ts";
import type { PullCount } from "../../../api/gen/registry.ts";
import { bytes, count } from "../../../lib/bytes.ts";
import { IdentityName } from "../../../lib/identity-name.tsx";
import type { Column } from "../../../ui/column.ts";
import { DataTable } from "../../../ui/data-table.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Note } from "../../../ui/note.tsx";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { pullsByQuery } from "./queries.ts";

type Grouping = "PULL_GROUPING_TAG" | "PULL_GROUPING_IDENTITY";

const SUMS: readonly Column<PullCount>[] = [
  { id: "pulls", header: "Pulls", align: "end", cell: (sum) => count(sum.count) },
  { id: "traffic", header: "Traffic", align: "end", isMinor: true, cell: (sum) => bytes(sum.bytes) },
  { id: "first", header: "First", align: "end", isMinor: true, cell: ({ firstTime }) => <Time value={firstTime} /> },
  { id: "last", header: "Last", align: "end", cell: ({ lastTime }) => <Time value={lastTime} /> },
];

const BY: Readonly<Record<Grouping, { title: string; word: string; column: Column<PullCount> }>> = {
  PULL_GROUPING_TAG: {
    title: "By tag",
    word: "tag",
    // Layers and configurations are asked for by digest: they have bytes, and are no pull.
    column: { id: "tag", header: "Tag", cell: ({ tag }) => tag || "by digest, and layers" },
  },
  PULL_GROUPING_IDENTITY: {
    title: "By who pulled",
    word: "identity",
    column: {
      id: "identity",
      header: "Pulled by",
      cell: ({ identity }) => <IdentityName uid={identity} none="someone who was not signed in" />,
    },
  },
};

export interface PullsByProps {
  repoUid: string;
  grouping: Grouping;
  nowMs: number;
}

/** The pulls of the last 30 days, summed up by tag or by who pulled. */
export function PullsBy({ repoUid, grouping, nowMs }: PullsByProps) {
  const { title, word, column } = BY[grouping];
  const list = useInfiniteQuery(pullsByQuery(repoUid, grouping, nowMs));
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const rows = data?.pages.flatMap(({ pulls }) => pulls) ?? [];
  if (isCode(error, "PERMISSION_DENIED"))
    return (
      <Section title={title}>
        <Note>You need CAP_EVENTS_LIST here to see who pulled.</Note>
      </Section>
    );
  return (
    <Section title={title}>
      <ErrorNote error={error} />
      {data !== undefined && rows.length === 0 && <p>No pulls were counted in these days.</p>}
      {rows.length > 0 && (
        <DataTable
          label={`Pulls ${title.toLowerCase()}`}
          rowWord={word}
          rows={rows}
          columns={[column, ...SUMS]}
          idOf={({ tag, identity }) => `${tag} ${identity}`}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
        />
      )}
    </Section>
  );
}
