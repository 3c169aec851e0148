import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import type { Repo } from "../../../api/gen/registry.ts";
import { counted } from "../../../lib/bytes.ts";
import { durationWords } from "../../../lib/durations.ts";
import { useRights } from "../../../lib/rights.ts";
import { isPast } from "../../../lib/time.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import type { Column } from "../../../ui/column.ts";
import { DataTable } from "../../../ui/data-table.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Page } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { Toolbar } from "../../../ui/toolbar.tsx";
import { usePaths } from "../../access/parts/data.ts";
import { GroupChip } from "../../access/parts/group-chip.tsx";
import { MirrorBadge, MirrorTags } from "./mirror-cells.tsx";
import { NewMirror } from "./new-mirror.tsx";
import { kindQuery } from "./queries.ts";

const mirrors = getRouteApi("/shell/images/mirrors");
const deprecated = getRouteApi("/shell/images/deprecated");

// 200 images a page: after that somebody asks for more.
const MAX_PAGES = 25;

/** `/images/mirrors`: images that follow others, and how that goes. */
export function MirrorsPage() {
  const { group = "" } = mirrors.useSearch();
  const navigate = mirrors.useNavigate();
  const [isNew, setNew] = useState(false);
  const rights = useRights(group);
  return (
    <Page
      title="Mirrors"
      lede="Copies of images in other registries, kept up to date. If a source is unavailable, the copies are still served."
      actions={
        <Button
          look="primary"
          icon={<Plus size={16} aria-hidden />}
          disabledReason={group === "" ? undefined : (rights("CAP_REPO_CREATE") ?? rights("CAP_REPO_POLICY_UPDATE"))}
          onClick={() => setNew(true)}
        >
          Mirror an image
        </Button>
      }
    >
      <Toolbar>
        <GroupChip
          group={group}
          onGroup={(uid) => void navigate({ search: { ...(uid !== undefined && { group: uid }) } })}
        />
      </Toolbar>
      <Kind
        label="Mirrors"
        word="mirror"
        group={group}
        columns={MIRRORS}
        isOne={({ syncConfig }) => syncConfig !== undefined && syncConfig.source !== ""}
        empty={<Empty title="No mirrors here">Mirror an image to copy its tags and keep them up to date.</Empty>}
      />
      {isNew && <NewMirror group={group} onClose={() => setNew(false)} />}
    </Page>
  );
}

/** `/images/deprecated`: images that are not to be used any longer. */
export function DeprecatedPage() {
  const { group = "" } = deprecated.useSearch();
  const navigate = deprecated.useNavigate();
  return (
    <Page title="Deprecated" lede="Images that should no longer be used. Anyone who pulls one gets a warning.">
      <Toolbar>
        <GroupChip
          group={group}
          onGroup={(uid) => void navigate({ search: { ...(uid !== undefined && { group: uid }) } })}
        />
      </Toolbar>
      <Kind
        label="Deprecated images"
        word="image"
        group={group}
        columns={DEPRECATED}
        isOne={(repo) => repo.deprecation !== undefined}
        empty={<Empty title="No image is deprecated">Deprecate an image in its settings.</Empty>}
      />
    </Page>
  );
}

interface KindProps {
  label: string;
  word: string;
  group: string;
  columns: readonly Column<Repo>[];
  isOne: (repo: Repo) => boolean;
  empty: ReactNode;
}

/** The images of one kind: all images are looked at for it, and how many were is said while there are more. */
function Kind({ label, word, group, columns, isOne, empty }: KindProps) {
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery(kindQuery(group));
  const [limit, setLimit] = useState(MAX_PAGES);
  const pages = data?.pages ?? [];
  const isLooking = hasNextPage && pages.length < limit;
  useEffect(() => {
    if (isLooking && !isFetching && error === null) void fetchNextPage();
  }, [isLooking, isFetching, error, fetchNextPage]);
  const all = pages.flatMap(({ repos }) => repos);
  const rows = all.filter(isOne);
  const isDone = data !== undefined && !hasNextPage;
  return (
    <>
      <ErrorNote error={error} />
      {!isDone && error === null && (
        <p role="status">
          {counted(all.length, "image")} looked at{isLooking || data === undefined ? "…" : "; there are more."}{" "}
          {data !== undefined && !isLooking && (
            <Button isSmall onClick={() => setLimit((before) => before + MAX_PAGES)}>
              Load more
            </Button>
          )}
        </p>
      )}
      {rows.length === 0 && isDone && empty}
      {rows.length > 0 && (
        <DataTable
          label={label}
          rowWord={word}
          rows={rows}
          columns={columns}
          idOf={({ uid }) => uid}
          total={isDone ? rows.length : undefined}
          isTall
        />
      )}
    </>
  );
}

function Name({ repo: { uid, name }, part }: { repo: Repo; part?: string }) {
  const group = usePaths().get(parentUid(uid));
  const path = group === undefined ? name : `${group}/${name}`;
  if (part === undefined)
    return (
      <Link to="/repo" search={{ name: path }}>
        {path}
      </Link>
    );
  return (
    <Link to="/repo/settings" search={{ name: path, part }}>
      {path}
    </Link>
  );
}

const MIRRORS: readonly Column<Repo>[] = [
  { id: "name", header: "Image", cell: (repo) => <Name repo={repo} /> },
  { id: "source", header: "Follows", isMinor: true, cell: ({ syncConfig }) => syncConfig?.source },
  { id: "state", header: "State", isRead: true, cell: ({ uid }) => <MirrorBadge uid={uid} /> },
  {
    id: "tags",
    header: "Tags there",
    isRead: true,
    isWide: true,
    align: "end",
    cell: ({ uid }) => <MirrorTags uid={uid} />,
  },
  {
    id: "interval",
    header: "Every",
    isWide: true,
    cell: ({ syncConfig }) => (syncConfig?.interval === undefined ? "hour" : durationWords(syncConfig.interval)),
  },
  {
    id: "through",
    header: "Pull-through",
    isWide: true,
    cell: ({ syncConfig }) => (syncConfig?.pullThrough ? <Badge>Yes</Badge> : "no"),
  },
];

const DEPRECATED: readonly Column<Repo>[] = [
  { id: "name", header: "Image", cell: (repo) => <Name repo={repo} part="deprecation" /> },
  { id: "reason", header: "Reason", isMinor: true, cell: ({ deprecation }) => deprecation?.message || "not stated" },
  {
    id: "instead",
    header: "Use instead",
    cell: ({ deprecation }) => deprecation?.replacement || "no replacement named",
  },
  {
    id: "ends",
    header: "Ends",
    isMinor: true,
    cell: ({ deprecation }) => <Time value={deprecation?.endTime} none="has ended" />,
  },
  { id: "pulls", header: "Pulls", cell: ({ deprecation }) => <PullsOf deprecation={deprecation} /> },
];

function PullsOf({ deprecation }: Pick<Repo, "deprecation">) {
  if (deprecation?.block !== true) return <Badge look="warning">Warned</Badge>;
  const hasEnded = deprecation.endTime === undefined || isPast(deprecation.endTime);
  return hasEnded ? <Badge look="danger">Rejected</Badge> : <Badge look="warning">Rejected from then on</Badge>;
}
