import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type FeedPreset, listFeedPresets } from "../../../api/gen/operations.ts";
import { durationWords } from "../../../lib/durations.ts";
import { query } from "../../../api/queries.ts";
import { Button } from "../../../ui/button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import type { Column } from "../../../ui/column.ts";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Row } from "../../../ui/page.tsx";
import { AddDialog } from "./add-dialog.tsx";
import styles from "./feeds.module.css";

// A feed that was removed can be added again when it is gone.
const POLL_MS = 5_000;
const NOTHING: ReadonlySet<string> = new Set();

/** The feeds that can be added by their names: what they cover, where they come from, and under which license. */
export function FeedPresets({ mayNot }: { mayNot: string | undefined }) {
  const { data, error } = useQuery({ ...query(listFeedPresets, {}), refetchInterval: POLL_MS });
  const [selected, setSelected] = useState(NOTHING);
  const [isAdding, setIsAdding] = useState(false);
  const missing = data?.presets.filter(({ isAdded }) => !isAdded) ?? [];
  const chosen = missing.filter(({ name }) => selected.has(name));
  const what = chosen.length === 0 ? "Add feeds…" : `Add ${chosen.length === 1 ? "1 feed" : `${chosen.length} feeds`}…`;
  return (
    <>
      <ErrorNote error={error} />
      {missing.length > 0 && (
        <>
          <Row>
            <p>Nothing is fetched until you add it.</p>
            <Button
              look="primary"
              disabledReason={mayNot ?? (chosen.length === 0 ? "Select the feeds to add" : undefined)}
              onClick={() => setIsAdding(true)}
            >
              {what}
            </Button>
          </Row>
          <DataTable
            label="Presets of feeds"
            rows={missing}
            columns={COLUMNS}
            idOf={({ name }) => name}
            selected={selected}
            onSelect={setSelected}
          />
        </>
      )}
      {data !== undefined && missing.length === 0 && <p>All presets have been added.</p>}
      {isAdding && (
        <AddDialog presets={chosen} onClose={() => setIsAdding(false)} onAdded={() => setSelected(NOTHING)} />
      )}
    </>
  );
}

const COLUMNS: readonly Column<FeedPreset>[] = [
  {
    id: "name",
    header: "Feed",
    cell: ({ name, address }) => (
      <span className={styles.whole} title={address}>
        {name}
      </span>
    ),
  },
  { id: "covers", header: "Covers", cell: ({ covers }) => covers },
  {
    id: "interval",
    header: "Fetched",
    isMinor: true,
    cell: ({ interval }) => <span className={styles.whole}>every {durationWords(interval)}</span>,
  },
  { id: "licence", header: "License", isMinor: true, cell: ({ licence }) => licence },
];
