import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { shortDigest } from "../../lib/digest.ts";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Empty } from "../../ui/empty.tsx";
import { Time } from "../../ui/time.tsx";
import { MIN_LETTERS, tagsQuery, type TagRow } from "./queries.ts";
import { Findings, LastMove, Life, Signed, Sizes } from "./tag-cells.tsx";

const NEWEST = "update_time desc";

export interface TagListProps {
  repo: string;
  repoUid: string;
  q: string | undefined;
  order: string | undefined;
  selected: readonly TagRow[];
  onSelect: (tags: readonly TagRow[]) => void;
}

/** The tags of a repo. The rest of each is read when its row is seen. */
export function TagList({ repo, repoUid, q = "", order = NEWEST, selected, onSelect }: TagListProps) {
  const navigate = useNavigate({ from: "/repo" });
  const list = useSuspenseInfiniteQuery(tagsQuery(repoUid, { q, order }));
  const tags = useMemo(() => list.data.pages.flatMap((page) => page.tags), [list.data]);
  const columns = useMemo(() => columnsOf(repo, repoUid), [repo, repoUid]);
  const isSearch = q.length >= MIN_LETTERS;
  if (tags.length === 0 && !list.hasNextPage)
    return isSearch ? (
      <Empty title={`No tag's name holds “${q}”`} />
    ) : (
      <Empty title="No tags yet" command={`docker push ${window.location.host}/${repo}:1.0`}>
        A push under a tag shows it here.
      </Empty>
    );
  return (
    <DataTable
      label="Tags"
      rowWord="tag"
      rows={tags}
      columns={columns}
      idOf={({ uid }) => uid}
      total={isSearch ? undefined : Number(list.data.pages[0]?.totalCount ?? tags.length)}
      order={order}
      {...(!isSearch && {
        onOrder: (wanted: string) => void navigate({ search: (before) => ({ ...before, order: wanted }) }),
      })}
      selected={new Set(selected.map(({ uid }) => uid))}
      onSelect={(ids) => onSelect(tags.filter(({ uid }) => ids.has(uid)))}
      onMore={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
      isLoadingMore={list.isFetchingNextPage}
    />
  );
}

function columnsOf(repo: string, repoUid: string): readonly Column<TagRow>[] {
  const linkTo = (page: string, name: string): string => `/${page}?name=${encodeURIComponent(name)}`;
  return [
    {
      id: "name",
      header: "Tag",
      orderBy: "name",
      cell: ({ name }) => <a href={linkTo("tag", `${repo}:${name}`)}>{name}</a>,
    },
    { id: "age", header: "Moved", orderBy: "update_time", cell: ({ updateTime }) => <Time value={updateTime} /> },
    { id: "mover", isRead: true, header: "By", isMinor: true, cell: (tag) => <LastMove repoUid={repoUid} tag={tag} /> },
    {
      id: "findings",
      isRead: true,
      header: "Findings",
      cell: ({ digest }) => <Findings repo={repo} digest={digest} />,
    },
    {
      id: "size",
      isRead: true,
      header: "Size",
      isMinor: true,
      cell: ({ digest }) => <Sizes repoUid={repoUid} digest={digest} />,
    },
    {
      id: "signed",
      isRead: true,
      header: "Signed",
      isMinor: true,
      cell: ({ digest }) => <Signed repo={repo} repoUid={repoUid} digest={digest} />,
    },
    {
      id: "life",
      isRead: true,
      header: "End of life",
      isMinor: true,
      orderBy: "deprecated",
      cell: (tag) => <Life tag={tag} />,
    },
    {
      id: "digest",
      header: "Digest",
      isMinor: true,
      cell: ({ digest }) => (
        <a href={linkTo("image", `${repo}@${digest}`)}>
          <code>{shortDigest(digest)}</code>
        </a>
      ),
    },
  ];
}
