import type { PackageChange } from "../../api/gen/registry.ts";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Note } from "../../ui/note.tsx";
import { KindBadge } from "./kind-badge.tsx";

const COLUMNS: readonly Column<PackageChange>[] = [
  { id: "kind", header: "Change", cell: ({ kind }) => <KindBadge kind={kind} /> },
  { id: "name", header: "Package", cell: ({ name }) => name },
  { id: "from", header: "From", cell: ({ fromVersions }) => fromVersions.join(", ") },
  { id: "to", header: "To", cell: ({ toVersions }) => toVersions.join(", ") },
  { id: "platforms", header: "Platforms", cell: ({ platforms }) => platforms.join(", "), isMinor: true },
];

export interface PackageChangesProps {
  changes: PackageChange[];
  total: number;
  onMore: (() => void) | undefined;
  isLoadingMore: boolean;
}

/** The packages that are new, gone, or there in another version. */
export function PackageChanges({ changes, total, onMore, isLoadingMore }: PackageChangesProps) {
  if (changes.length === 0) return <Note>No package differs.</Note>;
  return (
    <DataTable
      label="Packages that differ"
      rowWord="package"
      rows={changes}
      columns={COLUMNS}
      idOf={({ purl, platforms, kind }) => `${kind} ${purl} ${platforms.join()}`}
      total={total}
      onMore={onMore}
      isLoadingMore={isLoadingMore}
    />
  );
}
