import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { GroupStorage, RepoStorage } from "../../api/gen/registry.ts";
import { bytes, count } from "../../lib/bytes.ts";
import { groupPath, groupsQuery } from "../../lib/groups.ts";
import { parentUid } from "../../lib/uid.ts";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Empty } from "../../ui/empty.tsx";
import { Note } from "../../ui/note.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { storageQuery } from "./queries.ts";

const route = getRouteApi("/shell/operations/storage");

const SHOWN_REPOS = 20;

/** What takes up space: a group's own repos and each group below it, to be gone down into. */
export function StoragePage() {
  const { group = "" } = route.useSearch();
  const { groups } = useSuspenseQuery(groupsQuery).data;
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useSuspenseInfiniteQuery(storageQuery(group));
  const rows = data.pages.flatMap((page) => page.storage);
  const path = groupPath(group, groups);
  const largest = rows
    .flatMap(({ largestRepos }) => largestRepos)
    .toSorted((a, b) => Number(b.blobBytes) - Number(a.blobBytes))
    .slice(0, SHOWN_REPOS);
  return (
    <Page
      title={group === "" ? "Storage" : `Storage of ${path || "a group"}`}
      lede={group === "" ? undefined : <Up group={group} isKnown={(uid) => groups.some((each) => each.uid === uid)} />}
    >
      {rows.some(({ truncated }) => truncated) && (
        <Note look="warning">
          Rows marked with “at least” hold more than is counted in one answer. Go down into the group for more.
        </Note>
      )}
      {rows.length === 0 ? (
        <Empty title="Nothing is stored that you may see" command="moorage sample --push URL/acme/app:latest">
          Push an image, for instance:
        </Empty>
      ) : (
        <DataTable
          label="Storage by group"
          rowWord="group"
          rows={rows}
          columns={COLUMNS}
          idOf={({ groupUid, own }) => `${groupUid} ${own}`}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
        />
      )}
      {largest.length > 0 && (
        <Section title="Largest images">
          <DataTable
            label="Largest images"
            rows={largest}
            columns={repoColumns(groups)}
            idOf={({ repoUid }) => repoUid}
          />
        </Section>
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<GroupStorage>[] = [
  {
    id: "group",
    header: "Group",
    cell: ({ groupUid, name, own }) =>
      own ? (
        `${name}, its own images`
      ) : (
        <Link to="/operations/storage" search={{ group: groupUid }}>
          {name}
        </Link>
      ),
  },
  {
    id: "bytes",
    header: "Layers and configs",
    align: "end",
    cell: ({ blobBytes, truncated }) => `${truncated ? "at least " : ""}${bytes(blobBytes)}`,
  },
  {
    id: "shared",
    header: "of it shared",
    align: "end",
    isMinor: true,
    cell: ({ sharedBytes }) => <span title="Other rows have it as well">{bytes(sharedBytes)}</span>,
  },
  { id: "manifests", header: "Manifests", align: "end", isMinor: true, cell: ({ manifests }) => count(manifests) },
  { id: "repos", header: "Images", align: "end", cell: ({ repos }) => count(repos) },
  { id: "tags", header: "Tags", align: "end", isMinor: true, cell: ({ tags }) => count(tags) },
];

function repoColumns(groups: Parameters<typeof groupPath>[1]): readonly Column<RepoStorage>[] {
  const nameOf = ({ repoUid, name }: RepoStorage): string =>
    name.includes("/") ? name : [groupPath(parentUid(repoUid), groups), name].filter((part) => part !== "").join("/");
  return [
    {
      id: "repo",
      header: "Image",
      cell: (row) => <a href={`/repo?name=${encodeURIComponent(nameOf(row))}`}>{nameOf(row)}</a>,
    },
    { id: "bytes", header: "Layers and configs", align: "end", cell: ({ blobBytes }) => bytes(blobBytes) },
    { id: "blobs", header: "Blobs", align: "end", cell: ({ blobs }) => count(blobs) },
  ];
}

function Up({ group, isKnown }: { group: string; isKnown: (uid: string) => boolean }) {
  const above = parentUid(group);
  return (
    <Link to="/operations/storage" search={isKnown(above) ? { group: above } : {}}>
      {isKnown(above) ? "The group above" : "All storage"}
    </Link>
  );
}
