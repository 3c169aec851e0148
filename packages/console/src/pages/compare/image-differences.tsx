import type { PlatformDiff, ValueChange } from "../../api/gen/registry.ts";
import { bytes } from "../../lib/bytes.ts";
import { shortDigest } from "../../lib/digest.ts";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { Card, Facts, Stack } from "../../ui/page.tsx";
import { KindBadge } from "./kind-badge.tsx";

interface Value extends ValueChange {
  where: string;
}

const VALUES: readonly Column<Value>[] = [
  { id: "where", header: "In", cell: ({ where }) => where, isMinor: true },
  { id: "name", header: "Name", cell: ({ name }) => name },
  { id: "from", header: "From", cell: ({ from }) => from ?? "not set" },
  { id: "to", header: "To", cell: ({ to }) => to ?? "not set" },
];
const LAYERS: readonly Column<PlatformDiff["layers"][number]>[] = [
  { id: "kind", header: "Change", cell: ({ kind }) => <KindBadge kind={kind} /> },
  { id: "digest", header: "Layer", cell: ({ digest }) => <code>{shortDigest(digest)}</code> },
  { id: "size", header: "Size", align: "end", cell: ({ size }) => bytes(size) },
];

/** What differs in the image of one platform beside its packages: size, configuration, labels, layers. */
export function ImageDifferences({ diff: { from, to, config, labels, annotations, layers } }: { diff: PlatformDiff }) {
  const values = [
    ...config.map((each): Value => ({ ...each, where: "configuration" })),
    ...labels.map((each): Value => ({ ...each, where: "labels" })),
    ...annotations.map((each): Value => ({ ...each, where: "annotations" })),
  ];
  return (
    <Stack>
      <Card>
        <Facts
          facts={[
            ["Size before", from && bytes(from.size)],
            ["Size now", to && bytes(to.size)],
            ["Layers before", from?.layerCount],
            ["Layers now", to?.layerCount],
            ["Packages", from?.packagesReason || to?.packagesReason],
          ]}
        />
      </Card>
      {values.length > 0 && (
        <DataTable
          label="Values that differ"
          rows={values}
          columns={VALUES}
          idOf={({ where, name }) => `${where} ${name}`}
        />
      )}
      {layers.length > 0 && (
        <DataTable
          label="Layers that differ"
          rows={layers}
          columns={LAYERS}
          idOf={({ kind, digest }) => `${kind} ${digest}`}
        />
      )}
    </Stack>
  );
}
