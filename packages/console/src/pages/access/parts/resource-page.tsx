import { useNavigate, useSearch } from "@tanstack/react-router";
import type { RowData } from "@tanstack/react-table";
import { type ReactNode, useState } from "react";
import { useRights } from "../../../lib/rights.ts";
import { Button } from "../../../ui/button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { Page } from "../../../ui/page.tsx";
import { useChanged } from "./use-refresh.ts";
import { FormDialog } from "./form-dialog.tsx";
import { GroupChoice } from "./group-choice.tsx";
import styles from "./parts.module.css";
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

/** A page of a list: the group, what is there, and a form for a new one. */
export function ResourcePage<Row extends RowData>({
  spec,
  list,
  group,
  order,
  filters,
  actions,
  children,
}: ResourcePageProps<Row>) {
  const { title, noun, intro, columns, uidOf, create, empty } = spec;
  const [isMaking, setIsMaking] = useState(false);
  const navigate = useNavigate();
  const search = useSearch({ strict: false });
  const rights = useRights(group);
  const changed = useChanged();
  const reason = group === "" ? "Choose a group first: the new one belongs to it" : rights(create.capability);
  return (
    <Page
      title={title}
      actions={
        <>
          {actions}
          <Button look="primary" disabledReason={reason} onClick={() => setIsMaking(true)}>
            New {noun}
          </Button>
        </>
      }
    >
      <p>{intro}</p>
      <div className={styles.choice}>
        <GroupChoice group={group} />
      </div>
      {filters}
      {children}
      {list.rows.length === 0 && !list.isLoadingMore && list.onMore === undefined ? (
        <Empty title={empty.title} command={empty.command}>
          {empty.text}
        </Empty>
      ) : (
        <DataTable
          label={title}
          {...list}
          idOf={uidOf}
          order={order}
          onOrder={(next) => void navigate({ to: ".", search: { ...search, order: next } })}
          columns={[
            ...columns,
            { id: "actions", header: "Actions", align: "end", cell: (row) => <RowActions spec={spec} row={row} /> },
          ]}
        />
      )}
      {isMaking && (
        <FormDialog
          form={create.form(group)}
          onClose={() => setIsMaking(false)}
          onDone={(made) => {
            void changed();
            create.done?.(made);
          }}
        />
      )}
    </Page>
  );
}
