import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { DigestChip } from "../../ui/digest-chip.tsx";
import { Empty } from "../../ui/empty.tsx";
import { SeverityHead } from "../../ui/severity-strip.tsx";
import { Time } from "../../ui/time.tsx";
import { MIN_LETTERS, type TagRow } from "./queries.ts";
import { LeftOut, leftOutOf, unknownOf } from "./left-out.tsx";
import { PullCount, type PullsOf, usePullsOfTags } from "./pulls/pull-cells.tsx";
import { sumOfPulls } from "./pulls/pull-words.ts";
import styles from "./tag-cells.module.css";
import { Findings, LastMove, Life, Platforms, AttachedSignature, Size } from "./tag-cells.tsx";
import { isFiltered, isOfImages, ofUnknown, type TagFilters } from "./tag-filters.ts";
import { TagNames } from "./tag-names.tsx";
import { type NamedVersion, rowsOfTags } from "./tag-rows.ts";
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
  /** Whether each tag has a row of its own. */
  isEach: boolean;
  selected: readonly TagRow[];
  onSelect: (tags: readonly TagRow[]) => void;
}

/** The tags of a repo. The rest of each is read when its row is seen. */
export function TagList(props: TagListProps) {
  const { repo, repoUid, q = "", order = NEWEST, filters, all, isEach, selected, onSelect } = props;
  const navigate = useNavigate({ from: "/repo" });
  const list = useSuspenseInfiniteQuery(tagsQuery(repoUid, { q, order, ...filters }));
  const tags = useMemo(() => list.data.pages.flatMap((page) => page.tags), [list.data]);
  const rows = useMemo(() => rowsOfTags(tags, isEach), [tags, isEach]);
  const pulls = usePullsOfTags(repoUid);
  const columns = useMemo(() => columnsOf(repo, repoUid, pulls), [repo, repoUid, pulls]);
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
        rows={rows}
        columns={columns}
        idOf={({ first }) => first.uid}
        total={total}
        shown={tags.length}
        order={order}
        {...(!isSearch && {
          onOrder: (wanted: string) => void navigate({ search: (before) => ({ ...before, order: wanted }) }),
        })}
        selected={selectedRows(rows, selected)}
        onSelect={(ids) => onSelect(rows.flatMap((row) => (ids.has(row.first.uid) ? row.tags : [])))}
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

/** The rows of which all tags are selected. */
function selectedRows(rows: readonly NamedVersion[], selected: readonly TagRow[]): ReadonlySet<string> {
  const uids = new Set(selected.map(({ uid }) => uid));
  return new Set(
    rows.flatMap(({ first, tags }) => (uids.size > 0 && tags.every(({ uid }) => uids.has(uid)) ? [first.uid] : [])),
  );
}

/** The last pull by any of the names; undefined where none is known. */
function newestPull(tags: readonly TagRow[]): string | undefined {
  const times = tags.flatMap(({ lastPullTime }) => lastPullTime ?? []);
  return times.toSorted((a, b) => Date.parse(a) - Date.parse(b)).at(-1);
}

function columnsOf(repo: string, repoUid: string, pulls: PullsOf | undefined): readonly Column<NamedVersion>[] {
  const linkTo = (page: string, name: string): string => `/${page}?name=${encodeURIComponent(name)}`;
  return [
    {
      id: "name",
      header: "Tag",
      orderBy: "name",
      cell: ({ tags }) => <TagNames repo={repo} names={tags.map(({ name }) => name)} />,
    },
    {
      id: "status",
      isRead: true,
      header: "Status",
      isMinor: true,
      orderBy: "deprecated",
      cell: ({ first }) => (
        <span className={styles.status}>
          <AttachedSignature repo={repo} repoUid={repoUid} digest={first.digest} />
          <Life tag={first} />
        </span>
      ),
    },
    {
      id: "digest",
      header: "Digest",
      seenFrom: 1280,
      cell: ({ first: { digest } }) => <DigestChip digest={digest} href={linkTo("image", `${repo}@${digest}`)} />,
    },
    {
      id: "platforms",
      isRead: true,
      header: "Platforms",
      seenFrom: 1440,
      cell: ({ first: { digest } }) => <Platforms repoUid={repoUid} digest={digest} />,
    },
    {
      id: "size",
      isRead: true,
      header: "Size",
      align: "end",
      isWide: true,
      cell: ({ first: { digest } }) => <Size repoUid={repoUid} digest={digest} />,
    },
    {
      id: "findings",
      isRead: true,
      header: "Findings",
      head: <SeverityHead />,
      cell: ({ first: { digest } }) => <Findings repo={repo} digest={digest} />,
      below: ({ first: { digest } }) => <Findings repo={repo} digest={digest} isLettered />,
    },
    {
      id: "mover",
      isRead: true,
      header: "Updated by",
      seenFrom: 1280,
      cell: ({ first }) => <LastMove repoUid={repoUid} tag={first} />,
    },
    ...(pulls === undefined
      ? []
      : [
          {
            id: "pulls",
            header: "Pulls, 30 d",
            isWide: true,
            align: "end" as const,
            cell: ({ tags }: NamedVersion) => <PullCount seen={sumOfPulls(tags.map(({ name }) => pulls(name)))} />,
          },
        ]),
    {
      id: "pulled",
      header: "Last pull",
      seenFrom: 1600,
      align: "end",
      cell: ({ tags }) => <Time value={newestPull(tags)} none="not recorded" />,
    },
    {
      id: "age",
      header: "Updated",
      align: "end",
      orderBy: "update_time",
      cell: ({ first }) => <Time value={first.updateTime} />,
    },
  ];
}
