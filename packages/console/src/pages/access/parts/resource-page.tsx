import { useNavigate, useSearch } from "@tanstack/react-router";
import type { RowData } from "@tanstack/react-table";
import { Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useRights } from "../../../lib/rights.ts";
import { Button } from "../../../ui/button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { Page } from "../../../ui/page.tsx";
import { Toolbar } from "../../../ui/toolbar.tsx";
import { GroupChip } from "./group-chip.tsx";
import { NewResource } from "./new-resource.tsx";
import type { ResourceSpec } from "./resource.ts";
import { RowActions } from "./row-actions.tsx";

/** The rows of a list as far as they are loaded. */
export interface Rows<Row> {
  rows: readonly Row[];
  total: number | undefined;
  onMore: (() => void) | undefined;
  isLoadingMore: boolean;
}

export interface ResourcePageProps<Row> {
  spec: ResourceSpec<Row>;
  list: Rows<Row>;
  /** The chosen group's uid; empty without one. */
  group: string;
  order: string | undefined;
  /** Further filters above the table. */
  filters?: ReactNode;
  /** Further actions beside that which makes one. */
  actions?: ReactNode;
  /** Above the table, such as what is shown once. */
  children?: ReactNode;
}

/** A page of a list: what is there, of which group, and a form for a new one. */
export function ResourcePage<Row extends RowData>({
  spec,
  list,
  group,
  order,
  filters,
  actions,
  children,
}: ResourcePageProps<Row>) {
  const { title, noun, intro, columns, isTall = false, uidOf, create, empty } = spec;
  const [isMaking, setIsMaking] = useState(false);
  const navigate = useNavigate();
  const search = useSearch({ strict: false });
  const rights = useRights(group);
  const set = (change: object): void => void navigate({ to: ".", search: { ...search, ...change } });
  return (
    <Page
      title={title}
      lede={intro}
      actions={
        <>
          {actions}
          <Button
            look="primary"
            icon={<Plus size={16} aria-hidden />}
            disabledReason={group === "" ? undefined : rights(create.capability)}
            onClick={() => setIsMaking(true)}
          >
            New {noun}
          </Button>
        </>
      }
    >
      <Toolbar>
        <GroupChip group={group} onGroup={(uid) => set({ group: uid })} />
        {filters}
      </Toolbar>
      {children}
      {list.rows.length === 0 && !list.isLoadingMore && list.onMore === undefined ? (
        <Empty title={empty.title} command={empty.command}>
          {empty.text}
        </Empty>
      ) : (
        <DataTable
          label={title}
          rowWord={noun}
          {...list}
          idOf={uidOf}
          isTall={isTall}
          order={order}
          onOrder={(next) => set({ order: next })}
          columns={[
            ...columns,
            { id: "actions", header: "Actions", align: "end", cell: (row) => <RowActions spec={spec} row={row} /> },
          ]}
        />
      )}
      {isMaking && <NewResource spec={spec} group={group} onClose={() => setIsMaking(false)} />}
    </Page>
  );
}
