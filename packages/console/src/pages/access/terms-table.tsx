import { useNavigate } from "@tanstack/react-router";
import type { TermsAcceptance } from "../../api/gen/iam.ts";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Empty } from "../../ui/empty.tsx";
import { Time } from "../../ui/time.tsx";
import { Named } from "./parts/resource-name.tsx";
import { Place } from "./parts/place.tsx";
import { useRows } from "./parts/rows.ts";
import { termsList } from "./queries.ts";

const COLUMNS: readonly Column<TermsAcceptance>[] = [
  { id: "document", header: "Document", orderBy: "docId", cell: ({ docId }) => docId },
  { id: "group", header: "For group", cell: ({ orgUid }) => <Place uid={orgUid} /> },
  {
    id: "by",
    header: "Accepted by",
    cell: ({ acceptedBy }) => <Named kind="identity" uid={acceptedBy} />,
    isMinor: true,
  },
  { id: "when", header: "When", orderBy: "createTime", cell: ({ createTime }) => <Time value={createTime} /> },
];

/** What the group and those above it have accepted. */
export function TermsTable({ group, order }: { group: string; order: string | undefined }) {
  const navigate = useNavigate();
  const list = useRows(
    termsList({ group, ...(order !== undefined && { order }) }),
    ({ termsAcceptances }) => termsAcceptances,
  );
  if (list.rows.length === 0)
    return (
      <Empty
        title="Nothing has been accepted yet"
        command={`curl -X POST "$URL/iam/v2/terms/${group}" -H "Authorization: Bearer $TOKEN" -d '{"documentIds": ["privacy"]}'`}
      >
        Nothing needs to be, unless a call asks for it. Owners of the group can accept documents here.
      </Empty>
    );
  return (
    <DataTable
      label="Accepted documents"
      {...list}
      idOf={({ docId, orgUid }) => `${docId} ${orgUid}`}
      columns={COLUMNS}
      order={order}
      onOrder={(next) => void navigate({ to: "/access/terms", search: { group, order: next } })}
    />
  );
}
