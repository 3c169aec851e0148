import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Block } from "../../api/gen/libraries.ts";
import { count } from "../../lib/bytes.ts";
import { groupPath, groupsQuery } from "../../lib/groups.ts";
import { IdentityName } from "../../lib/identity-name.tsx";
import { Badge } from "../../ui/badge.tsx";
import type { Column } from "../../ui/column.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { FilterChip } from "../../ui/filter-chip.tsx";
import { Page } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Time } from "../../ui/time.tsx";
import { Toolbar } from "../../ui/toolbar.tsx";
import { useRows } from "../access/parts/rows.ts";
import { EcosystemChip } from "./ecosystem-chip.tsx";
import styles from "./package.module.css";
import { blocksList } from "./queries.ts";
import { ecosystemWord, reasonWord } from "./words.ts";

const route = getRouteApi("/shell/packages/blocked");

const COLUMNS: readonly Column<Block>[] = [
  {
    id: "name",
    header: "Version",
    cell: ({ name, version }) => (
      <strong>
        {name} {version}
      </strong>
    ),
  },
  {
    id: "ecosystem",
    header: "Registry",
    isMinor: true,
    cell: ({ ecosystem }) => <Badge isName>{ecosystemWord(ecosystem)}</Badge>,
  },
  {
    id: "why",
    header: "Why",
    cell: ({ reason, detail, openTime, mode }) => (
      <div className={styles.cell}>
        <span>
          {reasonWord(reason)} {mode !== "POLICY_MODE_ENFORCE" && <Badge>would be blocked</Badge>}
        </span>
        <small>
          {detail}
          {openTime !== undefined && (
            <>
              , opens <Time value={openTime} />
            </>
          )}
        </small>
      </div>
    ),
  },
  { id: "who", header: "Asked by", isMinor: true, cell: ({ identity }) => <IdentityName uid={identity} /> },
  { id: "count", header: "Times", align: "end", isMinor: true, cell: ({ count: times }) => count(times) },
  { id: "last", header: "Last", align: "end", cell: ({ lastTime }) => <Time value={lastTime} /> },
];

/** `/packages/blocked`: what clients asked for and were not given, or would not be given when a policy is enforced. */
export function BlocksPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useRows(blocksList(search), ({ blocks }) => blocks);
  const groups = useQuery(groupsQuery).data?.groups ?? [];
  const set = (change: Record<string, string | undefined>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const isNarrowed = [search.q, search.ecosystem, search.group].some((each) => each !== undefined);
  return (
    <Page title="Blocked" lede="Versions that clients asked for and that policies blocked, or would have blocked.">
      <Toolbar>
        <SearchBox
          label="Find a package"
          placeholder="Full package name"
          value={search.q}
          onSearch={(q) => set({ q: q || undefined })}
        />
        <EcosystemChip value={search.ecosystem} onValue={(ecosystem) => set({ ecosystem })} />
        <FilterChip
          label="Group"
          value={search.group}
          options={groups.map(({ uid }) => [uid, groupPath(uid, groups)])}
          onValue={(group) => set({ group })}
        />
      </Toolbar>
      {list.rows.length === 0 && list.onMore === undefined ? (
        <Empty title={isNarrowed ? "Nothing blocked by these filters" : "Nothing was blocked"}>
          A block is recorded when a client asks for a version that a policy blocks.
        </Empty>
      ) : (
        <DataTable
          label="Blocked versions"
          rowWord="version"
          {...list}
          columns={COLUMNS}
          idOf={({ uid }) => uid}
          isTall
        />
      )}
    </Page>
  );
}
