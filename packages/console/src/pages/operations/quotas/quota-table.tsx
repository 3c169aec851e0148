import type { ReactNode } from "react";
import type { Quota, QuotaState } from "../../../api/gen/registry.ts";
import { Badge, type BadgeLook } from "../../../ui/badge.tsx";
import type { Column } from "../../../ui/column.ts";
import { DataTable } from "../../../ui/data-table.tsx";
import { Meter } from "../../../ui/meter.tsx";
import { Time } from "../../../ui/time.tsx";
import { Place } from "../../access/parts/place.tsx";
import { QuotaActions } from "./quota-actions.tsx";
import { LIMITS, partsWords, softOf, useOf, useWords } from "./quota-words.ts";

const STATES: Partial<Record<QuotaState, readonly [word: string, look: BadgeLook]>> = {
  QUOTA_STATE_COUNTING: ["Being counted", "outline"],
  QUOTA_STATE_OK: ["OK", "success"],
  QUOTA_STATE_WARNED: ["Nearly full", "warning"],
  QUOTA_STATE_EXCEEDED: ["Exceeded", "danger"],
};
// A phone has space for the first of them, and the state.
const ON_PHONES = "bytes";

export interface QuotaTableProps {
  quotas: readonly Quota[];
  /** Paths of groups by uid. */
  paths: ReadonlyMap<string, string>;
  total: number | undefined;
  onMore: (() => void) | undefined;
  isLoadingMore: boolean;
}

/** One row a quota: what is used of each limit, and its state. */
export function QuotaTable({ quotas, paths, ...rest }: QuotaTableProps) {
  const columns: readonly Column<Quota>[] = [
    { id: "group", header: "Group", cell: ({ uid }) => <Place uid={uid} /> },
    { id: "state", header: "State", cell: ({ state }) => <State state={state} /> },
    ...LIMITS.map(([limit, label]): Column<Quota> => {
      const cell = (quota: Quota): ReactNode => {
        const use = useOf(quota, limit);
        return (
          <>
            <Meter text={useWords(limit, use)} part={use.part} look={use.look} />
            {limit === "bytes" && <Parts quota={quota} />}
          </>
        );
      };
      const isWide = limit === "tags" || limit === "libraries";
      return { id: limit, header: label, isMinor: true, isWide, cell, ...(limit === ON_PHONES && { below: cell }) };
    }),
    { id: "soft", header: "Warns from", isWide: true, align: "end", cell: (quota) => `${softOf(quota)} %` },
    {
      id: "updated",
      header: "Updated",
      isWide: true,
      align: "end",
      cell: ({ updateTime }) => <Time value={updateTime} />,
    },
    {
      id: "actions",
      header: "Actions",
      align: "end",
      cell: (quota) => <QuotaActions quota={quota} path={paths.get(quota.uid) ?? "a group"} />,
    },
  ];
  return (
    <DataTable
      label="Quotas"
      rowWord="quota"
      rows={quotas}
      columns={columns}
      idOf={({ uid }) => uid}
      isTall
      {...rest}
    />
  );
}

/** What of the storage is not in use by a tag here, and when that was measured. */
function Parts({ quota }: { quota: Quota }) {
  const words = partsWords(quota);
  return (
    words !== "" && (
      <small>
        {words} (<Time value={quota.used?.measureTime} />)
      </small>
    )
  );
}

function State({ state }: { state: QuotaState }) {
  const [word, look] = STATES[state] ?? ["Not known", "outline"];
  return <Badge look={look}>{word}</Badge>;
}
