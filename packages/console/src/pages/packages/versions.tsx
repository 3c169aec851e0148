import { useQuery, type UseSuspenseInfiniteQueryResult, type InfiniteData } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Artifact, ArtifactVersion, Block, ListArtifactVersionsResponse } from "../../api/gen/libraries.ts";
import { bytes, counted } from "../../lib/bytes.ts";
import { IdentityName } from "../../lib/identity-name.tsx";
import { Badge } from "../../ui/badge.tsx";
import type { Column } from "../../ui/column.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Time } from "../../ui/time.tsx";
import { downloadsColumn, useDownloads } from "./download-cells.tsx";
import styles from "./package.module.css";
import { blocksOf } from "./queries.ts";
import { VersionActions } from "./version-actions.tsx";
import { reasonWord, sourceWord } from "./words.ts";

export interface VersionsProps {
  package_: Artifact;
  list: UseSuspenseInfiniteQueryResult<InfiniteData<ListArtifactVersionsResponse, unknown>>;
  /** The version that the page is about. */
  selected: string;
}

/** The versions of a package, with where each came from and whether a policy has blocked it. */
export function Versions({ package_, list, selected }: VersionsProps) {
  const { uid, ecosystem, name, latestVersion } = package_;
  const blocks = useQuery({ ...blocksOf(ecosystem, name), retry: false }).data?.blocks;
  const columns = useMemo<readonly Column<ArtifactVersion>[]>(
    () => [
      {
        id: "version",
        header: "Version",
        cell: ({ version }) => (
          <span className={styles.version}>
            <Link
              to="/package"
              search={{ uid, version }}
              replace
              resetScroll={false}
              aria-current={version === selected ? "true" : undefined}
            >
              {version}
            </Link>
            {version === latestVersion && (
              <Badge look="accent" isName>
                latest
              </Badge>
            )}
          </span>
        ),
      },
      {
        id: "source",
        header: "Source",
        isMinor: true,
        cell: ({ sourceType, publisher }) =>
          publisher === "" ? (
            sourceWord(sourceType)
          ) : (
            <>
              {sourceWord(sourceType)} by <IdentityName uid={publisher} />
            </>
          ),
      },
      { id: "size", header: "Size", align: "end", isMinor: true, cell: ({ sizeBytes }) => bytes(sizeBytes) },
      { id: "state", header: "State", cell: (row) => <State row={row} blocks={blocks} /> },
      {
        id: "published",
        header: "Published",
        align: "end",
        cell: ({ upstreamPublishTime, createTime }) => <Time value={upstreamPublishTime ?? createTime} />,
      },
      {
        id: "actions",
        header: "Actions",
        align: "end",
        isActions: true,
        cell: (row) => <VersionActions row={row} ecosystem={ecosystem} />,
      },
    ],
    [uid, ecosystem, latestVersion, selected, blocks],
  );
  const rows = list.data.pages.flatMap(({ artifactVersions }) => artifactVersions);
  const downloads = useDownloads(
    rows.map((row) => row.uid),
    uid,
  );
  if (rows.length === 0) return <Empty title="No versions">All versions were removed.</Empty>;
  return (
    <DataTable
      label="Versions"
      rowWord="version"
      rows={rows}
      columns={
        downloads === undefined ? columns : columns.toSpliced(-2, 0, downloadsColumn<ArtifactVersion>(downloads))
      }
      idOf={({ uid: each }) => each}
      total={Number(list.data.pages[0]?.totalCount ?? rows.length)}
      onMore={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
      isLoadingMore={list.isFetchingNextPage}
    />
  );
}

/** What holds of a version. Undefined blocks: whoever looks may not list them. */
function State({ row, blocks }: { row: ArtifactVersion; blocks: readonly Block[] | undefined }) {
  const { version, yanked, yankReason, deprecation, malwareMalicious } = row;
  const blocked = blocks?.find((each) => each.version === version && each.mode === "POLICY_MODE_ENFORCE");
  if (malwareMalicious) return <Badge look="critical">Malware</Badge>;
  if (blocked !== undefined)
    return (
      <Badge look="danger" title={`${blocked.detail}, ${counted(blocked.count, "time")}`}>
        Blocked: {reasonWord(blocked.reason)}
      </Badge>
    );
  if (yanked)
    return (
      <Badge look="warning" title={yankReason}>
        Yanked
      </Badge>
    );
  if (deprecation !== "")
    return (
      <Badge look="warning" title={deprecation}>
        Deprecated
      </Badge>
    );
  return <Badge>Available</Badge>;
}
