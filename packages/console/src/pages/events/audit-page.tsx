import { useInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { AuditEntry } from "../../api/gen/iam.ts";
import { fieldErrors, otherError } from "../../lib/field-errors.ts";
import { GroupField } from "../../ui/group-field.tsx";
import { groupsQuery } from "../../lib/groups.ts";
import { localTime, timeOfLocal } from "../../lib/local-time.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { FilterForm } from "../../ui/filter-form.tsx";
import { Page } from "../../ui/page.tsx";
import { auditColumns, AuditDialog } from "./audit-entry.tsx";
import { AuditExport } from "./audit-export.tsx";
import { auditQuery } from "./audit-query.ts";

const route = getRouteApi("/shell/audit");

const TEXTS = ["identity", "method", "resource"] as const;
const TIMES = ["since", "until"] as const;
const FIELDS = [...TEXTS, ...TIMES];

/** Who did what to which resource, and what was refused. */
export function AuditPage() {
  const search = route.useSearch();
  const { groups } = useSuspenseQuery(groupsQuery).data;
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(auditQuery(search));
  const navigate = useNavigate();
  const [open, setOpen] = useState<AuditEntry>();
  const [group, setGroup] = useState(search.group ?? "");
  const wrong = fieldErrors(error);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    const form = new FormData(event.currentTarget);
    const texts = Object.fromEntries(TEXTS.map((name) => [name, String(form.get(name) ?? "").trim()]));
    const times = Object.fromEntries(TIMES.map((name) => [name, timeOfLocal(form.get(name)) ?? ""]));
    void navigate({
      to: "/audit",
      search: { ...search, ...texts, ...times, group, decision: String(form.get("decision")) },
    });
  };
  const rows = data?.pages.flatMap((page) => page.auditEntries) ?? [];
  const total = data?.pages[0]?.totalCount;
  return (
    <Page title="Audit log" actions={<AuditExport search={search} />}>
      <FilterForm key={JSON.stringify(search)} onSubmit={submit}>
        <GroupField value={group} onValue={setGroup} groups={groups} none="all that you may read" />
        <TextField label="Identity" name="identity" defaultValue={search.identity} error={wrong("identity")} />
        <TextField
          label="Method"
          name="method"
          defaultValue={search.method}
          error={wrong("method")}
          placeholder="registry.manifest.put"
        />
        <TextField label="Resource" name="resource" defaultValue={search.resource} error={wrong("resource")} />
        <SelectField label="Decision" name="decision" defaultValue={search.decision ?? ""}>
          <option value="">allowed or denied</option>
          <option value="allowed">allowed</option>
          <option value="denied">denied</option>
        </SelectField>
        {TIMES.map((name) => (
          <TextField
            key={name}
            label={name === "since" ? "From" : "Before"}
            name={name}
            type="datetime-local"
            step={1}
            defaultValue={localTime(search[name])}
            error={wrong(name)}
          />
        ))}
      </FilterForm>
      <ErrorNote error={otherError(error, FIELDS)} />
      {data !== undefined && rows.length === 0 ? (
        <Empty title="No entry that you may read fits">
          Leave filters empty to see more. The roles owner and auditor may read the log of a group.
        </Empty>
      ) : (
        <DataTable
          label="Audit entries"
          rowWord="entry"
          rows={rows}
          columns={auditColumns(setOpen)}
          idOf={({ uid }) => uid}
          total={total === undefined ? undefined : Number(total)}
          order={search.order ?? "createTime desc"}
          onOrder={(order) => void navigate({ to: "/audit", search: { ...search, order: ordered(order) } })}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
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
