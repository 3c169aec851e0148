import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { DigestChip } from "../../ui/digest-chip.tsx";
import { Empty } from "../../ui/empty.tsx";
import { LongName } from "../../ui/long-name.tsx";
import { SeverityHead } from "../../ui/severity-strip.tsx";
import { Time } from "../../ui/time.tsx";
import { MIN_LETTERS, type TagRow } from "./queries.ts";
import { LeftOut, leftOutOf, unknownOf } from "./left-out.tsx";
import styles from "./tag-cells.module.css";
import { Findings, LastMove, Life, Platforms, AttachedSignature, Size } from "./tag-cells.tsx";
import { isFiltered, isOfImages, ofUnknown, type TagFilters } from "./tag-filters.ts";
import { tagsQuery } from "./tags-query.ts";

const NEWEST = "update_time desc";

export interface TagListProps {
  repo: string;
  repoUid: string;
  q: string | undefined;
  order: string | undefined;
  filters: TagFilters;
  /** How many tags there are in all, when it is known. */
  all: number | undefined;
  selected: readonly TagRow[];
  onSelect: (tags: readonly TagRow[]) => void;
}

/** The tags of a repo. The rest of each is read when its row is seen. */
export function TagList({ repo, repoUid, q = "", order = NEWEST, filters, all, selected, onSelect }: TagListProps) {
  const navigate = useNavigate({ from: "/repo" });
  const list = useSuspenseInfiniteQuery(tagsQuery(repoUid, { q, order, ...filters }));
  const tags = useMemo(() => list.data.pages.flatMap((page) => page.tags), [list.data]);
  const columns = useMemo(() => columnsOf(repo, repoUid), [repo, repoUid]);
  const isSearch = q.length >= MIN_LETTERS;
  const total = totalOf(list.data.pages, { isSearch, isEnd: !list.hasNextPage });
  const isWhole = !list.hasNextPage || (!isSearch && !isOfImages(filters));
  const leftOut = isFiltered(filters)
    ? leftOutOf(list.data.pages, { isSearch, isOfImages: isOfImages(filters), all, total })
    : undefined;
  const unknown = ofUnknown(filters);
  const showUnknown = (change: TagFilters): void => {
    onSelect([]);
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  };
  const left = (
    <LeftOut
      tags={leftOut}
      unknown={unknownOf(list.data.pages)}
      q={isSearch ? q : ""}
      isWhole={isWhole}
      onUnknown={unknown && (() => showUnknown(unknown))}
    />
  );
  if (tags.length === 0 && !list.hasNextPage)
    return isFiltered(filters) && leftOut !== 0 ? (
      <Empty title="No tag matches the filters">{left}</Empty>
    ) : isSearch ? (
      <Empty title={`No tag name contains “${q}”`} />
    ) : (
      <Empty title="No tags yet" command={`docker push ${window.location.host}/${repo}:1.0`}>
        Push a tag, and it appears here.
      </Empty>
    );
  return (
    <>
      {isFiltered(filters) && left}
      <DataTable
        label="Tags"
        rowWord="tag"
        rows={tags}
        columns={columns}
        idOf={({ uid }) => uid}
        total={total}
        order={order}
        {...(!isSearch && {
          onOrder: (wanted: string) => void navigate({ search: (before) => ({ ...before, order: wanted }) }),
        })}
        selected={new Set(selected.map(({ uid }) => uid))}
        onSelect={(ids) => onSelect(tags.filter(({ uid }) => ids.has(uid)))}
        onMore={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
        isLoadingMore={list.isFetchingNextPage}
      />
    </>
  );
}

/** How many tags fit: as the server says, or once all are here. */
function totalOf(
  pages: readonly { tags: readonly unknown[]; totalCount?: string | undefined }[],
  { isSearch, isEnd }: { isSearch: boolean; isEnd: boolean },
): number | undefined {
  const counted = pages[0]?.totalCount;
  if (counted !== undefined) return Number(counted);
  return isSearch || !isEnd ? undefined : pages.reduce((sum, { tags }) => sum + tags.length, 0);
}

function columnsOf(repo: string, repoUid: string): readonly Column<TagRow>[] {
  const linkTo = (page: string, name: string): string => `/${page}?name=${encodeURIComponent(name)}`;
  return [
    {
      id: "name",
      header: "Tag",
      orderBy: "name",
      cell: ({ name }) => (
        <a className={styles.tag} aria-label={name} href={linkTo("tag", `${repo}:${name}`)}>
          <LongName name={name} />
        </a>
      ),
    },
    {
      id: "status",
      isRead: true,
      header: "Status",
      isMinor: true,
      orderBy: "deprecated",
      cell: (tag) => (
        <span className={styles.status}>
          <AttachedSignature repo={repo} repoUid={repoUid} digest={tag.digest} />
          <Life tag={tag} />
        </span>
      ),
    },
    {
      id: "digest",
      header: "Digest",
      isWide: true,
      cell: ({ digest }) => <DigestChip digest={digest} href={linkTo("image", `${repo}@${digest}`)} />,
    },
    {
      id: "platforms",
      isRead: true,
      header: "Platforms",
      isWide: true,
      cell: ({ digest }) => <Platforms repoUid={repoUid} digest={digest} />,
    },
    {
      id: "size",
      isRead: true,
      header: "Size",
      align: "end",
      isMinor: true,
      cell: ({ digest }) => <Size repoUid={repoUid} digest={digest} />,
    },
    {
      id: "findings",
      isRead: true,
      header: "Findings",
      head: <SeverityHead />,
      cell: ({ digest }) => <Findings repo={repo} digest={digest} />,
      below: ({ digest }) => <Findings repo={repo} digest={digest} isLettered />,
    },
    {
      id: "mover",
      isRead: true,
      header: "Updated by",
      isWide: true,
      cell: (tag) => <LastMove repoUid={repoUid} tag={tag} />,
    },
    {
      id: "pulled",
      header: "Last pull",
      isWide: true,
      align: "end",
      cell: ({ lastPullTime }) => <Time value={lastPullTime} none="not recorded" />,
    },
    {
      id: "age",
      header: "Updated",
      align: "end",
      orderBy: "update_time",
      cell: ({ updateTime }) => <Time value={updateTime} />,
    },
  ];
}
