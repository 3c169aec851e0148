import { useQuery } from "@tanstack/react-query";
import { type FeedPreset, listFeedPresets } from "../../api/gen/operations.ts";
import { query } from "../../api/queries.ts";
import { Command } from "../../ui/command.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Section } from "../../ui/page.tsx";

/** The feeds that can be added by their names, each with the command that adds it and fetches it. */
export function FeedPresets() {
  const { data, error } = useQuery(query(listFeedPresets, {}));
  const missing = data?.presets.filter(({ isAdded }) => !isAdded) ?? [];
  return (
    <Section title="Feeds that can be added by name">
      <ErrorNote error={error} />
      {missing.length > 0 && (
        <>
          <p>Nothing is fetched until somebody who runs the server adds it there:</p>
          <DataTable label="Presets of feeds" rows={missing} columns={COLUMNS} idOf={({ name }) => name} />
        </>
      )}
      {data !== undefined && missing.length === 0 && <p>All of them are added.</p>}
    </Section>
  );
}

const COLUMNS: readonly Column<FeedPreset>[] = [
  { id: "title", header: "Feed", cell: ({ title }) => title },
  { id: "covers", header: "Covers", cell: ({ covers }) => covers },
  { id: "licence", header: "Licence", isMinor: true, cell: ({ licence }) => licence },
  { id: "address", header: "From", isMinor: true, cell: ({ address }) => address },
  { id: "command", header: "Command", cell: ({ name }) => <Command text={`moorage feeds add ${name}`} /> },
];
