import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Tag } from "../../api/gen/registry.ts";
import { TagChip } from "../../ui/chips.tsx";
import type { Column } from "../../ui/column.ts";
import { Panel, PanelBody } from "../../ui/panel.tsx";
import { SeverityHead } from "../../ui/severity-strip.tsx";
import { ShortTable } from "../../ui/short-table.tsx";
import { Time } from "../../ui/time.tsx";
import { useRepoPath } from "../registry/image-path.tsx";
import { Findings, LastMove } from "../registry/tag-cells.tsx";
import styles from "./home-page.module.css";
import { type Push, pushesOf } from "./pushes.ts";

const MAX_SHOWN = 8;
const MAX_TAGS = 2;

const COLUMNS: readonly Column<Push>[] = [
  { id: "image", header: "Image", cell: (push) => <Image push={push} /> },
  {
    id: "by",
    header: "Pushed by",
    isMinor: true,
    cell: ({ repoUid, newest }) => <LastMove repoUid={repoUid} tag={newest} />,
  },
  {
    id: "findings",
    header: "Findings",
    head: <SeverityHead />,
    isMinor: true,
    cell: ({ repoUid, digest }) => <PushFindings repoUid={repoUid} digest={digest} />,
  },
  { id: "age", header: "Age", align: "end", cell: ({ newest }) => <Time value={newest.updateTime} /> },
];

/** The pushes of late, one row each, with all tags that they moved. */
export function RecentPushes({ tags }: { tags: readonly Tag[] | undefined }) {
  const pushes = useMemo(() => pushesOf(tags ?? []).slice(0, MAX_SHOWN), [tags]);
  return (
    <Panel title="Recent pushes" actions={<Link to="/events">All events</Link>}>
      {tags === undefined ? (
        <PanelBody>…</PanelBody>
      ) : (
        <ShortTable label="Recent pushes" rows={pushes} columns={COLUMNS} idOf={({ newest }) => newest.uid} />
      )}
    </Panel>
  );
}

function Image({ push: { repoUid, tags } }: { push: Push }) {
  const path = useRepoPath(repoUid);
  if (path === undefined) return <span className={styles.image}>…</span>;
  return (
    <span className={styles.image}>
      <Link to="/repo" search={{ name: path }}>
        {path}
      </Link>
      {tags.slice(0, MAX_TAGS).map((tag) => (
        <TagChip key={tag} href={`/tag?name=${encodeURIComponent(`${path}:${tag}`)}`}>
          {tag}
        </TagChip>
      ))}
      {tags.length > MAX_TAGS && <span className={styles.more}>+{tags.length - MAX_TAGS}</span>}
    </span>
  );
}

function PushFindings({ repoUid, digest }: { repoUid: string; digest: string }) {
  const path = useRepoPath(repoUid);
  return path === undefined ? <span>…</span> : <Findings repo={path} digest={digest} />;
}
