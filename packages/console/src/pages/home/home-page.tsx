import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { GroupStorage } from "../../api/gen/registry.ts";
import { bytes, count } from "../../lib/bytes.ts";
import { BarList } from "../../ui/bar-list.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { Panel, PanelBody } from "../../ui/panel.tsx";
import { StatTile, StatTiles } from "../../ui/stat-tile.tsx";
import { ecosystemWord } from "../packages/words.ts";
import { FindingsOverTime, PullsOverTime } from "./charts.tsx";
import { FirstSteps } from "./first-steps.tsx";
import styles from "./home-page.module.css";
import { organizationsQuery, packageCountsQuery, recentTagsQuery, storageQuery } from "./queries.ts";
import { RecentPushes } from "./recent-pushes.tsx";

const route = getRouteApi("/shell/");
const MAX_BARS = 5;
/** In how many organizations the person's permissions are asked for. */
const MAX_ASKED = 10;

/** The start: how much there is, what was pushed last, and what takes up space. */
export function HomePage() {
  const { group } = route.useSearch();
  const {
    data: { groups },
  } = useSuspenseQuery(organizationsQuery);
  const storage = useQuery(storageQuery(group));
  const tags = useQuery(recentTagsQuery(group));
  const rows = storage.data?.storage;
  if (groups.length === 0)
    return (
      <Page title="Home" isTitleHidden>
        <Empty title="You are in no organization yet">
          Ask the owner of one to invite you or give you a role in it.
        </Empty>
      </Page>
    );
  const isFresh = tags.data?.tags.length === 0;
  return (
    <Page title="Home" isTitleHidden>
      <Tiles rows={rows} isWhole={storage.data?.nextPageToken === ""} hasGroup={group !== undefined} />
      {isFresh && <FirstSteps organization={groups.find(({ uid }) => uid === group)?.name ?? groups[0]?.name ?? ""} />}
      {tags.data && !isFresh && (
        <div className={styles.columns}>
          <FindingsOverTime group={group} />
          <PullsOverTime group={group} organizations={groups.slice(0, MAX_ASKED).map(({ uid }) => uid)} />
        </div>
      )}
      <div className={styles.columns}>
        {!isFresh && <RecentPushes tags={tags.data?.tags} />}
        {rows !== undefined && rows.length > 0 && (
          <Panel
            title={group === undefined ? "Storage by organization" : "Storage by group"}
            actions={
              <Link to="/operations/storage" search={group === undefined ? {} : { group }}>
                Details
              </Link>
            }
          >
            <PanelBody>
              <BarList bars={barsOf(rows)} />
            </PanelBody>
          </Panel>
        )}
      </div>
    </Page>
  );
}

interface TilesProps {
  rows: readonly GroupStorage[] | undefined;
  /** Whether these are all groups. */
  isWhole: boolean;
  hasGroup: boolean;
}

function Tiles({ rows, isWhole, hasGroup }: TilesProps) {
  const packages = useQuery(packageCountsQuery);
  const atLeast = rows === undefined || (isWhole && !rows.some(({ truncated }) => truncated)) ? "" : "at least ";
  const sum = (field: "repos" | "tags" | "blobBytes"): number | undefined =>
    rows?.reduce((all, row) => all + Number(row[field]), 0);
  const number = (value: number | undefined): string | undefined => (value === undefined ? undefined : count(value));
  const stored = sum("blobBytes");
  const counts = packages.data?.counts.filter(({ totalCount }) => Number(totalCount) > 0);
  const inGroups = rows?.filter(({ own }) => !own).length ?? 0;
  return (
    <StatTiles>
      <StatTile
        label="Images"
        value={number(sum("repos"))}
        note={rows && `${atLeast}in ${count(inGroups)} ${hasGroup ? "groups" : "organizations"}`}
      />
      <StatTile label="Tags" value={number(sum("tags"))} note={atLeast} />
      <StatTile
        label="Packages"
        value={counts && count(counts.reduce((all, { totalCount }) => all + Number(totalCount), 0))}
        note={counts?.map(({ ecosystem, totalCount }) => `${count(totalCount)} ${ecosystemWord(ecosystem)}`).join(", ")}
      />
      <StatTile label="Storage" value={stored === undefined ? undefined : bytes(stored)} note={`${atLeast}layers`} />
    </StatTiles>
  );
}

function barsOf(rows: readonly GroupStorage[]) {
  return rows
    .toSorted((one, other) => Number(other.blobBytes) - Number(one.blobBytes))
    .slice(0, MAX_BARS)
    .map(({ groupUid, name, own, blobBytes }) => ({
      id: groupUid,
      label: (
        <Link to="/images" search={{ group: groupUid }}>
          {own ? `${name}, its own images` : name}
        </Link>
      ),
      value: Number(blobBytes),
      text: bytes(blobBytes),
    }));
}
