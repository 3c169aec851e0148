import { useInfiniteQuery } from "@tanstack/react-query";
import { type ExpiringTag, previewTagRetention, type TagPolicyInput } from "../../api/gen/registry.ts";
import { listQuery } from "../../api/queries.ts";
import { counted } from "../../lib/bytes.ts";
import { shortDigest } from "../../lib/digest.ts";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Note } from "../../ui/note.tsx";
import { Time } from "../../ui/time.tsx";

const PAGE_SIZE = 100;

/** The tags that a policy would delete now. It deletes nothing. */
export function RetentionPreview({ uid, policy }: { uid: string; policy: TagPolicyInput }) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    ...listQuery(previewTagRetention, { uid, tagPolicy: policy, pageSize: PAGE_SIZE }),
    staleTime: 0,
  });
  if (error !== null) return <ErrorNote error={error} />;
  if (isPending) return <p role="status">Looking…</p>;
  const rows = data.pages.flatMap((page) => page.expiringTags);
  const total = Number(data.pages[0]?.totalCount ?? rows.length);
  if (rows.length === 0) return <Note look="success">This policy would delete no tag now.</Note>;
  return (
    <>
      <Note look="warning">This policy would delete {counted(total, "tag")} at the next collection:</Note>
      <DataTable
        label="Tags that would be deleted"
        rows={rows}
        columns={COLUMNS}
        idOf={({ name }) => name}
        total={total}
        onMore={hasNextPage ? () => void fetchNextPage() : undefined}
        isLoadingMore={isFetchingNextPage}
      />
    </>
  );
}

const COLUMNS: readonly Column<ExpiringTag>[] = [
  { id: "name", header: "Tag", cell: ({ name }) => name },
  { id: "rule", header: "By rule", align: "end", cell: ({ rule }) => rule },
  { id: "moved", header: "Last moved", cell: ({ updateTime }) => <Time value={updateTime} /> },
  { id: "digest", header: "Digest", isMinor: true, cell: ({ digest }) => <code>{shortDigest(digest)}</code> },
];
