import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Container } from "lucide-react";
import { type ArtifactImage, listArtifactImages } from "../../api/gen/libraries.ts";
import { query } from "../../api/queries.ts";
import { count, counted } from "../../lib/bytes.ts";
import type { Column } from "../../ui/column.ts";
import { SidePart } from "../../ui/columns.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { tabCount } from "../../ui/tabs.tsx";
import { Time } from "../../ui/time.tsx";
import styles from "./package.module.css";
import { usesQuery } from "./queries.ts";

const MAX_SHOWN = 5;

const COLUMNS: readonly Column<ArtifactImage>[] = [
  { id: "image", header: "Image", cell: (use) => <ImageLink use={use} /> },
  { id: "version", header: "Version in it", cell: ({ version }) => <code>{version}</code> },
  { id: "platform", header: "Platform", isMinor: true, cell: ({ platform }) => platform || "not stated" },
  { id: "since", header: "Since", align: "end", isMinor: true, cell: ({ sinceTime }) => <Time value={sinceTime} /> },
];

function ImageLink({ use: { image, tag } }: { use: ArtifactImage }) {
  return (
    <Link to="/image" search={{ name: `${image}:${tag}`, part: "packages" }}>
      {image}:{tag}
    </Link>
  );
}

/** Which tags of images contain the package, as far as images were read. */
export function Uses({ uid }: { uid: string }) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(usesQuery(uid));
  const rows = data?.pages.flatMap(({ artifactImages }) => artifactImages) ?? [];
  const total = data?.pages[0]?.totalCount;
  if (isPending) return <p role="status">Looking for images…</p>;
  return (
    <>
      <ErrorNote error={error} />
      {rows.length === 0 ? (
        <Empty title="In no image that was read" command="moorage images coverage">
          Images whose packages were not read are not included. To list them:
        </Empty>
      ) : (
        <DataTable
          label="Images that contain it"
          rowWord="tag"
          rows={rows}
          columns={COLUMNS}
          idOf={({ digest, tag, repo, purl }) => [repo, tag, digest, purl].join(" ")}
          total={total === undefined ? undefined : Number(total)}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
        />
      )}
    </>
  );
}

/** How many tags contain it; nothing until that is known. */
export function UsesCount({ uid }: { uid: string }) {
  const { data } = useQuery(fewUses(uid));
  return data?.totalCount === undefined ? null : tabCount(data.totalCount);
}

/** The first images that contain it, with the version that each has. */
export function UsedIn({ uid }: { uid: string }) {
  const { data, error } = useQuery(fewUses(uid));
  const uses = data?.artifactImages ?? [];
  const total = Number(data?.totalCount ?? uses.length);
  return (
    <SidePart
      title="Used in images"
      actions={
        total > 0 && (
          <Link to="/package" search={{ uid, part: "uses" }}>
            All {count(total)}
          </Link>
        )
      }
    >
      {data !== undefined && uses.length === 0 && <p>In no image that was read.</p>}
      {error !== null && <p>Not known: {error.message}</p>}
      <ul>
        {uses.map((use) => (
          <li key={[use.repo, use.tag, use.digest].join(" ")} className={styles.use} title={use.platform}>
            <Container size={14} aria-hidden />
            <ImageLink use={use} />
            <code>{use.version}</code>
          </li>
        ))}
      </ul>
      {total > uses.length && <p>and {counted(total - uses.length, "more tag", "more tags")}</p>}
    </SidePart>
  );
}

const fewUses = (artifactId: string) => query(listArtifactImages, { artifactId, pageSize: MAX_SHOWN });
