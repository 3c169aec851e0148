import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { type ExpiringTag, previewTagRetention, type TagPolicyInput } from "../../api/gen/registry.ts";
import { listQuery } from "../../api/queries.ts";
import { count } from "../../lib/bytes.ts";
import { shortDigest } from "../../lib/digest.ts";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Time } from "../../ui/time.tsx";
import { PreviewFrame } from "./preview-frame.tsx";
import styles from "./retention-rules.module.css";

const PAGE_SIZE = 100;

export interface RetentionPreviewProps {
  uid: string;
  policy: TagPolicyInput;
  /** How many tags there are in all, when it is known. */
  tags: number | undefined;
  /** Whether the rules are those that hold already. */
  isSaved: boolean;
}

/** How many tags rules would delete now, and which. It deletes nothing. */
export function RetentionPreview({ uid, policy, tags, isSaved }: RetentionPreviewProps) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    ...listQuery(previewTagRetention, { uid, tagPolicy: policy, pageSize: PAGE_SIZE }),
    staleTime: 0,
    retry: false,
    // While the next rules are looked at, what the last ones would do stays.
    placeholderData: keepPreviousData,
  });
  const rows = data?.pages.flatMap((page) => page.expiringTags) ?? [];
  const deleted = Number(data?.pages[0]?.totalCount ?? rows.length);
  return (
    <PreviewFrame isSaved={isSaved} error={error} data={data}>
      {() => (
        <>
          <div className={styles.numbers}>
            <p>
              <b>{count(deleted)}</b> {deleted === 1 ? "tag deleted" : "tags deleted"}
            </p>
            {tags !== undefined && (
              <p>
                <b>{count(tags - deleted)}</b> {tags - deleted === 1 ? "tag kept" : "tags kept"}
              </p>
            )}
          </div>
          {tags !== undefined && tags > 0 && <Share deleted={deleted} tags={tags} />}
          {rows.length > 0 && (
            <DataTable
              label="Tags that would be deleted"
              rowWord="tag"
              rows={rows}
              columns={COLUMNS}
              idOf={({ name }) => name}
              total={deleted}
              onMore={hasNextPage ? () => void fetchNextPage() : undefined}
              isLoadingMore={isFetchingNextPage}
            />
          )}
        </>
      )}
    </PreviewFrame>
  );
}

/** Which part of all tags would be deleted. */
function Share({ deleted, tags }: { deleted: number; tags: number }) {
  return (
    <svg className={styles.bar} viewBox={`0 0 ${tags} 1`} preserveAspectRatio="none" aria-hidden>
      <rect width={tags} height={1} className={styles.kept} />
      <rect width={deleted} height={1} className={styles.deleted} />
    </svg>
  );
}

const COLUMNS: readonly Column<ExpiringTag>[] = [
  { id: "name", header: "Tag", cell: ({ name }) => name },
  { id: "rule", header: "By rule", align: "end", cell: ({ rule }) => rule },
  { id: "moved", header: "Last moved", cell: ({ updateTime }) => <Time value={updateTime} /> },
  { id: "digest", header: "Digest", isMinor: true, cell: ({ digest }) => <code>{shortDigest(digest)}</code> },
];
