import { useQuery, useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ChevronRight, Container, Folder } from "lucide-react";
import type { Group } from "../../api/gen/iam.ts";
import type { GroupStorage, Repo } from "../../api/gen/registry.ts";
import { imageTagOf } from "../../lib/attached-tag.ts";
import { bytes, counted } from "../../lib/bytes.ts";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Empty } from "../../ui/empty.tsx";
import { SeverityHead } from "../../ui/severity-strip.tsx";
import { Time } from "../../ui/time.tsx";
import { useImagePath } from "./image-path.tsx";
import { LastPull, PullCount, type PullsOf, usePullsOfRepos } from "./pulls/pull-cells.tsx";
import { FLAT, foldersQuery, newestTagsQuery, reposQuery } from "./queries.ts";
import styles from "./repo-list.module.css";
import { Findings, Size } from "./tag-cells.tsx";

type Row = { folder: GroupStorage; description: string } | { repo: Repo; isPath: boolean };

const idOf = (row: Row): string => ("repo" in row ? row.repo.uid : row.folder.groupUid);

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "name",
    header: "Name",
    orderBy: "name",
    cell: (row) => ("repo" in row ? <RepoName repo={row.repo} isPath={row.isPath} /> : <FolderName {...row} />),
  },
  {
    id: "latest",
    isRead: true,
    header: "Latest tag",
    isMinor: true,
    cell: (row) => ("repo" in row ? <LatestTag repo={row.repo} /> : <span>{counted(row.folder.repos, "image")}</span>),
  },
  {
    id: "findings",
    isRead: true,
    header: "Findings",
    head: <SeverityHead />,
    isMinor: true,
    cell: (row) => ("repo" in row ? <LatestFindings repo={row.repo} /> : null),
  },
  {
    id: "size",
    isRead: true,
    header: "Size",
    align: "end",
    isMinor: true,
    cell: (row) => ("repo" in row ? <LatestSize repo={row.repo} /> : bytes(row.folder.blobBytes)),
  },
  {
    id: "updated",
    header: "Updated",
    orderBy: "update_time",
    align: "end",
    cell: (row) =>
      "repo" in row ? (
        <Time value={row.repo.updateTime} />
      ) : (
        <ChevronRight className={styles.chevron} size={16} aria-hidden />
      ),
  },
];

/** How often images were pulled in the last 30 days, and when last, as far as that is known. */
function pullColumns(pulls: PullsOf): readonly Column<Row>[] {
  return [
    {
      id: "pulls",
      header: "Pulls, 30 d",
      align: "end",
      isWide: true,
      cell: (row) => ("repo" in row ? <PullCount seen={pulls(row.repo.uid)} /> : null),
    },
    {
      id: "pulled",
      header: "Last pull",
      align: "end",
      isWide: true,
      cell: (row) => ("repo" in row ? <LastPull seen={pulls(row.repo.uid)} /> : null),
    },
  ];
}

export interface RepoListProps {
  group: string | undefined;
  order: string | undefined;
  view: string | undefined;
  /** What an image in the group is named by. */
  groupPath: string | undefined;
  groups: readonly Group[];
}

/** The groups below a group and its images, or in the flat view all images in and below it. */
export function RepoList({ group, order = "name", view, groupPath = "<organization>", groups }: RepoListProps) {
  const navigate = useNavigate({ from: "/images" });
  const isFlat = view === FLAT;
  // At the top there are organizations, which hold all images.
  const isTop = group === undefined && !isFlat;
  const list = useSuspenseInfiniteQuery(
    reposQuery({ order, ...(group !== undefined && { group }), ...(view !== undefined && { view }) }),
  );
  const folders = useQuery({ ...foldersQuery(group), enabled: !isFlat });
  const repos = isTop ? [] : list.data.pages.flatMap((page) => page.repos);
  const pulls = usePullsOfRepos(repos.map(({ uid }) => uid));
  const rows: Row[] = [
    ...(isFlat ? [] : (folders.data?.storage ?? []))
      .filter(({ own }) => !own)
      .map((folder) => ({
        folder,
        description: groups.find(({ uid }) => uid === folder.groupUid)?.description ?? "",
      })),
    ...repos.map((repo) => ({ repo, isPath: isFlat })),
  ];
  if (rows.length === 0 && !folders.isLoading)
    return (
      <Empty title="No images here yet" command={`docker push ${window.location.host}/${groupPath}/<image>:<tag>`}>
        The first push creates the image.
      </Empty>
    );
  const columns = pulls === undefined ? COLUMNS : COLUMNS.toSpliced(-1, 0, ...pullColumns(pulls));
  const total = Number(list.data.pages[0]?.totalCount ?? repos.length);
  const inFolders = rows.length - repos.length;
  return (
    <>
      <DataTable
        label="Images"
        isTall
        rows={rows}
        columns={columns}
        idOf={idOf}
        order={order}
        onOrder={(wanted) => void navigate({ search: (before) => ({ ...before, order: wanted }) })}
        onMore={!isTop && list.hasNextPage ? () => void list.fetchNextPage() : undefined}
        isLoadingMore={list.isFetchingNextPage}
      />
      <p className={styles.foot}>
        {inFolders > 0 && `${counted(inFolders, isTop ? "organization" : "group")}, `}
        {counted(total, "image")} {isTop ? "in all" : inFolders > 0 ? "here" : ""}
        {folders.data !== undefined && folders.data.nextPageToken !== "" && "; there are more groups"}
      </p>
    </>
  );
}

function FolderName({ folder: { groupUid, name }, description }: { folder: GroupStorage; description: string }) {
  return (
    <span className={styles.name}>
      <span className={`${styles.tile} ${styles.folder}`}>
        <Folder size={16} strokeWidth={1.75} aria-hidden />
      </span>
      <span>
        <Link to="/images" search={{ group: groupUid }}>
          {name}
        </Link>
        {description !== "" && <small>{description}</small>}
      </span>
    </span>
  );
}

function RepoName({ repo: { uid, name, description }, isPath }: { repo: Repo; isPath: boolean }) {
  const path = useImagePath(uid, name);
  const text = isPath ? (path ?? name) : name;
  return (
    <span className={styles.name}>
      <span className={styles.tile}>
        <Container size={16} strokeWidth={1.75} aria-hidden />
      </span>
      <span>
        {path === undefined ? (
          text
        ) : (
          <Link to="/repo" search={{ name: path }}>
            {text}
          </Link>
        )}
        {description !== "" && <small>{description}</small>}
      </span>
    </span>
  );
}

function LatestTag({ repo: { uid } }: { repo: Repo }) {
  const { data } = useQuery(newestTagsQuery(uid));
  if (data === undefined) return <span>…</span>;
  const tag = imageTagOf(data.tags);
  return tag === undefined ? <span className={styles.none}>no tags</span> : <code>{tag.name}</code>;
}

function LatestFindings({ repo: { uid, name } }: { repo: Repo }) {
  const path = useImagePath(uid, name);
  const tag = imageTagOf(useQuery(newestTagsQuery(uid)).data?.tags ?? []);
  return tag === undefined || path === undefined ? null : <Findings repo={path} digest={tag.digest} />;
}

function LatestSize({ repo: { uid } }: { repo: Repo }) {
  const tag = imageTagOf(useQuery(newestTagsQuery(uid)).data?.tags ?? []);
  return tag === undefined ? null : <Size repoUid={uid} digest={tag.digest} />;
}
