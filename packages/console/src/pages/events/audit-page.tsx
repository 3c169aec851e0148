import { useInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { AuditEntry } from "../../api/gen/iam.ts";
import { counted } from "../../lib/bytes.ts";
import { fieldErrors, otherError } from "../../lib/field-errors.ts";
import { groupsQuery } from "../../lib/groups.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Page } from "../../ui/page.tsx";
import { auditColumns, AuditDialog } from "./audit-entry.tsx";
import { AuditExport } from "./audit-export.tsx";
import { AuditFilters } from "./audit-filters.tsx";
import { auditQuery, SHOWN } from "./audit-query.ts";
import { isOwnRead } from "./own-reads.ts";

const route = getRouteApi("/shell/audit");

const FIELDS = ["identity", "method", "resource", "since", "until"];
// So many pages of the console's own reads are gone through by themselves.
const MAX_OWN_PAGES = 10;

/** Who did what to which resource, and what was refused. The console's own reads are left out until asked for. */
export function AuditPage() {
  const search = route.useSearch();
  const { groups } = useSuspenseQuery(groupsQuery).data;
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(auditQuery(search));
  const navigate = useNavigate();
  const [open, setOpen] = useState<AuditEntry>();
  const isAll = search.own === SHOWN || (search.method ?? "") !== "";
  const all = data?.pages.flatMap((page) => page.auditEntries) ?? [];
  const rows = isAll ? all : all.filter((entry) => !isOwnRead(entry));
  const left = all.length - rows.length;
  const total = data?.pages[0]?.totalCount;
  const goesOn = hasNextPage && (rows.length > 0 || (data?.pages.length ?? 0) < MAX_OWN_PAGES);
  const more = (): void => void fetchNextPage();
  const wrong = fieldErrors(error);
  const wrongs = FIELDS.flatMap((name) => wrong(name) ?? []);
  return (
    <Page title="Audit log" lede="Who did what, and what was denied." actions={<AuditExport search={search} />}>
      <AuditFilters search={search} groups={groups} wrong={wrong} />
      {wrongs.length > 0 && <p role="alert">{wrongs.join("; ")}</p>}
      <ErrorNote error={otherError(error, FIELDS)} />
      {(left > 0 || search.own === SHOWN) && (
        <p>
          {left > 0
            ? `${counted(left, "time")} the console renewed a sign-in: not shown here, but in the export.`
            : "Renewed sign-ins of the console are shown."}{" "}
          <Link to="/audit" search={{ ...search, own: left > 0 ? SHOWN : "" }} replace>
            {left > 0 ? "Show them" : "Hide them"}
          </Link>
        </p>
      )}
      {data !== undefined && rows.length === 0 && !goesOn ? (
        <Empty title={hasNextPage ? "Only renewed sign-ins so far" : "No entry that you can read matches"}>
          {hasNextPage ? (
            <Button onClick={more}>Search further back</Button>
          ) : (
            "Clear filters to see more. The roles owner and auditor can read the log of a group."
          )}
        </Empty>
      ) : (
        <DataTable
          label="Audit entries"
          rowWord="entry"
          rows={rows}
          columns={auditColumns(setOpen)}
          idOf={({ uid }) => uid}
          total={total === undefined || left > 0 ? undefined : Number(total)}
          order={search.order ?? "createTime desc"}
          onOrder={(order) => void navigate({ to: "/audit", search: { ...search, order: ordered(order) } })}
          onMore={goesOn ? more : undefined}
          isLoadingMore={isFetchingNextPage}
        />
      )}
      <AuditDialog entry={open} onClose={() => setOpen(undefined)} />
    </Page>
  );
}

/** Newest first stands in no URL; the log is ordered by time alone. */
function ordered(order: string): string {
  return order === "createTime desc" ? "" : "createTime asc";
}
