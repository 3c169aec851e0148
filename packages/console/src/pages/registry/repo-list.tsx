import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Repo } from "../../api/gen/registry.ts";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Empty } from "../../ui/empty.tsx";
import { Time } from "../../ui/time.tsx";
import { RepoLink } from "./image-path.tsx";
import { reposQuery } from "./queries.ts";

const COLUMNS: readonly Column<Repo>[] = [
  { id: "name", header: "Image", orderBy: "name", cell: ({ uid, name }) => <RepoLink uid={uid} name={name} /> },
  { id: "description", header: "Description", isMinor: true, cell: ({ description }) => description },
  {
    id: "updated",
    header: "Changed",
    orderBy: "update_time",
    isMinor: true,
    cell: ({ updateTime }) => <Time value={updateTime} />,
  },
];

/** The repos of a group, or all; `groupPath` is what an image in it is named by. */
export function RepoList({
  group,
  order = "name",
  groupPath = "<organization>",
}: {
  group: string | undefined;
  order: string | undefined;
  groupPath: string | undefined;
}) {
  const navigate = useNavigate({ from: "/images" });
  const list = useSuspenseInfiniteQuery(reposQuery({ order, ...(group !== undefined && { group }) }));
  const repos = list.data.pages.flatMap((page) => page.repos);
  if (repos.length === 0)
    return (
      <Empty title="No images here yet" command={`docker push ${window.location.host}/${groupPath}/<image>:<tag>`}>
        The first push makes the repo.
      </Empty>
    );
  return (
    <DataTable
      label="Images"
      rowWord="image"
      rows={repos}
      columns={COLUMNS}
      idOf={({ uid }) => uid}
      total={Number(list.data.pages[0]?.totalCount ?? repos.length)}
      order={order}
      onOrder={(wanted) => void navigate({ search: (before) => ({ ...before, order: wanted }) })}
      onMore={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
      isLoadingMore={list.isFetchingNextPage}
    />
  );
}
