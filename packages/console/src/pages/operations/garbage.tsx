import { useMutation } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { type GarbageOfRepo, previewGarbageCollection } from "../../api/gen/operations.ts";
import { bytes, count, counted } from "../../lib/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { Command } from "../../ui/command.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import type { Column } from "../../ui/column.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Facts, Section } from "../../ui/page.tsx";

/** What garbage collection would remove now. It reads everything once, so it is counted only when asked for. */
export function Garbage() {
  const preview = useMutation({ mutationFn: () => call(previewGarbageCollection, {}) });
  const { data, error, isPending } = preview;
  return (
    <Section
      title="Garbage collection"
      actions={
        <Button isBusy={isPending} onClick={() => preview.mutate()}>
          {isPending ? "Counting…" : "Preview"}
        </Button>
      }
    >
      <p>It runs every hour by itself. Counting reads everything once and removes nothing; by hand it is run with:</p>
      <Command text="moorage gc --dry-run" />
      <ErrorNote error={error} />
      {data !== undefined && (
        <>
          <div role="status" aria-label="What would be removed">
            <Facts
              facts={[
                ["Would be freed", bytes(data.bytes)],
                ["Layers and configs", count(data.blobs)],
                ["Manifests", count(data.manifests)],
                ["Tags", count(data.tags)],
              ]}
            />
          </div>
          {data.repos.length > 0 && (
            <>
              <p>The largest of {counted(data.repoCount, "image")}:</p>
              <DataTable label="Garbage by image" rows={data.repos} columns={COLUMNS} idOf={({ name }) => name} />
            </>
          )}
        </>
      )}
    </Section>
  );
}

const COLUMNS: readonly Column<GarbageOfRepo>[] = [
  { id: "name", header: "Image", cell: ({ name }) => name },
  { id: "bytes", header: "Frees", align: "end", cell: (row) => bytes(row.bytes) },
  { id: "manifests", header: "Manifests", align: "end", isMinor: true, cell: ({ manifests }) => count(manifests) },
  { id: "tags", header: "Tags", align: "end", cell: ({ tags }) => count(tags) },
];
