import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Artifact } from "../../api/gen/libraries.ts";
import { count } from "../../lib/bytes.ts";
import { parentUid } from "../../lib/uid.ts";
import { Badge } from "../../ui/badge.tsx";
import type { Column } from "../../ui/column.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Segmented } from "../../ui/segments.tsx";
import { Time } from "../../ui/time.tsx";
import { Toolbar } from "../../ui/toolbar.tsx";
import { downloadColumns, useDownloads } from "./download-cells.tsx";
import { GroupPath } from "./group-path.tsx";
import styles from "./package.module.css";
import { packagesQuery } from "./queries.ts";
import { ECOSYSTEMS, ecosystemWord } from "./words.ts";

const route = getRouteApi("/shell/packages");
const ALL = "All";

const COLUMNS: readonly Column<Artifact>[] = [
  {
    id: "name",
    header: "Name",
    cell: ({ uid, name, description }) => (
      <div className={styles.cell}>
        <Link to="/package" search={{ uid }}>
          {name}
        </Link>
        <small>{description}</small>
      </div>
    ),
  },
  { id: "ecosystem", header: "Registry", cell: ({ ecosystem }) => <Badge isName>{ecosystemWord(ecosystem)}</Badge> },
  { id: "latest", header: "Latest version", cell: ({ latestVersion }) => latestVersion || "none" },
  {
    id: "versions",
    header: "Versions",
    align: "end",
    isMinor: true,
    cell: ({ versionCount }) => count(versionCount),
  },
  { id: "group", header: "Group", isMinor: true, cell: ({ uid }) => <GroupPath uid={parentUid(uid)} /> },
  {
    id: "updated",
    header: "Updated",
    align: "end",
    isMinor: true,
    cell: ({ updateTime }) => <Time value={updateTime} />,
  },
];

/** The packages that groups hold, published here or fetched through an upstream. */
export function PackagesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useSuspenseInfiniteQuery(packagesQuery(search));
  const rows = list.data.pages.flatMap((page) => page.artifacts);
  const downloads = useDownloads(rows.map(({ uid }) => uid));
  const columns = downloads === undefined ? COLUMNS : COLUMNS.toSpliced(-1, 0, ...downloadColumns<Artifact>(downloads));
  const set = (change: { q?: string | undefined; ecosystem?: string | undefined }): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  return (
    <Page title="Packages">
      <Toolbar>
        <SearchBox
          label="Find packages"
          placeholder="Name of a package"
          value={search.q}
          onSearch={(q) => set({ q: q || undefined })}
        />
        <Segmented
          label="Registry"
          value={search.ecosystem ?? ALL}
          options={[ALL, ...ECOSYSTEMS.map(([, word]) => word)].map((word) => [word, word])}
          onValue={(word) => set({ ecosystem: word === ALL ? undefined : word })}
        />
      </Toolbar>
      {rows.length === 0 ? (
        <Empty title={search.q === undefined && search.ecosystem === undefined ? "No packages yet" : "No such package"}>
          npm, pip and Maven publish to a group and install from it, also through an upstream registry.{" "}
          <a href="/profile/tokens">Personal tokens</a> come with instructions for each client.
        </Empty>
      ) : (
        <DataTable
          label="Packages"
          rowWord="package"
          rows={rows}
          columns={columns}
          idOf={({ uid }) => uid}
          isTall
          total={Number(list.data.pages[0]?.totalCount ?? rows.length)}
          onMore={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
          isLoadingMore={list.isFetchingNextPage}
        />
      )}
    </Page>
  );
}
