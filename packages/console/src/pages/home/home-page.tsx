import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { GroupStorage } from "../../api/gen/registry.ts";
import { bytes, count, counted } from "../../lib/bytes.ts";
import { BarList } from "../../ui/bar-list.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { Panel, PanelBody } from "../../ui/panel.tsx";
import { ecosystemWord } from "../packages/words.ts";
import { FindingsOverTime, PullsOverTime } from "./charts.tsx";
import { FirstSteps } from "./first-steps.tsx";
import styles from "./home-page.module.css";
import { AttentionCard } from "./attention-card.tsx";
import { organizationsQuery, packageCountsQuery, recentTagsQuery, storageQuery } from "./queries.ts";
import { RecentPushes } from "./recent-pushes.tsx";
import { Tiles } from "./tiles.tsx";

const route = getRouteApi("/shell/");
const MAX_BARS = 5;
/** In how many organizations the person's permissions are asked for. */
const MAX_ASKED = 10;

/** The start: how it changed, what needs attention, what was pushed last, and what takes up space. */
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
  // What stands where depends on it: nothing is shown that would move when it comes.
  if (tags.isPending)
    return (
      <Page title="Home" isTitleHidden>
        <p role="status">Loading…</p>
      </Page>
    );
  const isFresh = tags.data?.tags.length === 0;
  const isWhole = storage.data?.nextPageToken === "";
  const asked = groups.slice(0, MAX_ASKED).map(({ uid }) => uid);
  return (
    <Page title="Home" isTitleHidden>
      {tags.data && !isFresh && <Tiles group={group} organizations={asked} />}
      {isFresh && <FirstSteps organization={groups.find(({ uid }) => uid === group)?.name ?? groups[0]?.name ?? ""} />}
      {tags.data && !isFresh && (
        <div className={styles.columns}>
          <FindingsOverTime group={group} />
          <AttentionCard group={group} />
        </div>
      )}
      <div className={styles.columns}>
        {!isFresh && <RecentPushes tags={tags.data?.tags} />}
        <div className={styles.stack}>
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
                <Totals rows={rows} isWhole={isWhole && !rows.some(({ truncated }) => truncated)} />
              </PanelBody>
            </Panel>
          )}
          {tags.data && !isFresh && <PullsOverTime group={group} organizations={asked} />}
        </div>
      </div>
    </Page>
  );
}

/** How much there is, as far as it was counted. */
function Totals({ rows, isWhole }: { rows: readonly GroupStorage[]; isWhole: boolean }) {
  const packages = useQuery(packageCountsQuery);
  const sum = (field: "repos" | "tags"): number => rows.reduce((all, row) => all + Number(row[field]), 0);
  const counts = packages.data?.counts.filter(({ totalCount }) => Number(totalCount) > 0);
  const words = [
    counted(sum("repos"), "image"),
    counted(sum("tags"), "tag"),
    ...(counts ?? []).map(({ ecosystem, totalCount }) => `${count(totalCount)} ${ecosystemWord(ecosystem)}`),
  ];
  return (
    <p className={styles.totals}>
      {isWhole ? "" : "At least "}
      {words.join(", ")}
    </p>
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
