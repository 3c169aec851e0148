import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { counted } from "../../../lib/bytes.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Empty } from "../../../ui/empty.tsx";
import { Note } from "../../../ui/note.tsx";
import { Page } from "../../../ui/page.tsx";
import { Toolbar } from "../../../ui/toolbar.tsx";
import { usePaths } from "../../access/parts/data.ts";
import { GroupChip } from "../../access/parts/group-chip.tsx";
import { storageQuery } from "../queries.ts";
import { Growth } from "./growth.tsx";
import { LargestImages } from "./largest-images.tsx";
import styles from "./storage-page.module.css";
import { StorageTable } from "./storage-table.tsx";
import { StorageTiles } from "./storage-tiles.tsx";

const route = getRouteApi("/shell/operations/storage");

/** What takes up space: a group's own images and each group below it, to be gone down into. */
export function StoragePage() {
  const { group = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const paths = usePaths();
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useSuspenseInfiniteQuery(storageQuery(group));
  const rows = data.pages.flatMap((page) => page.storage);
  const cut = rows.filter(({ truncated }) => truncated).length;
  const path = paths.get(group);
  return (
    <Page
      title={group === "" ? "Storage" : `Storage of ${path ?? "a group"}`}
      lede={
        group === "" ? (
          "How much storage each group uses, including everything below it."
        ) : (
          <Up group={group} paths={paths} />
        )
      }
    >
      <Toolbar>
        <GroupChip
          group={group}
          onGroup={(uid) => void navigate({ search: { ...(uid !== undefined && { group: uid }) } })}
        />
      </Toolbar>
      {cut > 0 && (
        <Note look="warning">
          {counted(cut, "row")} of {counted(rows.length, "row")} {cut === 1 ? "holds" : "hold"} more than is counted in
          one answer, and {cut === 1 ? "says" : "say"} “at least”. Go down into the group for more.
        </Note>
      )}
      {rows.length === 0 ? (
        <Empty title="No storage that you can see" command="moorage sample --push URL/acme/app:latest">
          For example, push an image:
        </Empty>
      ) : (
        <>
          <StorageTiles rows={rows} isWhole={!hasNextPage} />
          <div className={styles.columns}>
            <StorageTable
              rows={rows}
              onMore={hasNextPage ? () => void fetchNextPage() : undefined}
              isLoadingMore={isFetchingNextPage}
            />
            <div className={styles.side}>
              <Growth group={group} />
              <LargestImages rows={rows} isWhole={!hasNextPage && cut === 0} />
            </div>
          </div>
        </>
      )}
    </Page>
  );
}

function Up({ group, paths }: { group: string; paths: ReadonlyMap<string, string> }) {
  const above = parentUid(group);
  return (
    <Link to="/operations/storage" search={paths.has(above) ? { group: above } : {}}>
      {paths.has(above) ? "The group above" : "All storage"}
    </Link>
  );
}
