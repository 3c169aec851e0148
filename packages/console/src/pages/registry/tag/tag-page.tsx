import { useQuery, useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { repoByPathQuery } from "../../../api/repo-by-path.ts";
import { counted } from "../../../lib/bytes.ts";
import { shortDigest } from "../../../lib/digest.ts";
import { exactTime, relativeTime } from "../../../lib/time.ts";
import styles from "./timeline.module.css";
import { Button } from "../../../ui/button.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { Card, Facts, Page, Row, Section } from "../../../ui/page.tsx";
import { Panel, PanelBody } from "../../../ui/panel.tsx";
import { Segmented } from "../../../ui/segments.tsx";
import { AbPanel } from "./ab-panel.tsx";
import { historyQuery, moveAtQuery, splitName } from "./history.ts";
import { MovesTable } from "./moves-table.tsx";
import { PullCard } from "./pull-card.tsx";
import { Rollback } from "./rollback.tsx";
import { Timeline } from "./timeline.tsx";
import { type Measure, measureOf, MEASURES } from "./timeline-columns.ts";
import { indexAt } from "./timeline-layout.ts";

const route = getRouteApi("/shell/tag");
const NOT_THERE = "the tag was not there";

/** A tag over time: what it pointed to, the commands to pull that, what differs, and the way back. */
export function TagPage() {
  const { name = "", at, by } = route.useSearch();
  const measure = measureOf(by);
  const navigate = route.useNavigate();
  const { repo, tag } = splitName(name);
  const { data: repoUid } = useSuspenseQuery(repoByPathQuery(repo));
  const history = useSuspenseInfiniteQuery(historyQuery(repo, tag));
  const moves = useMemo(() => history.data.pages.flatMap((page) => page.moves), [history.data]);
  const [nowMs] = useState(() => Date.now());
  const [compared, setCompared] = useState<ReadonlySet<string>>(new Set());
  const untilMs = Math.max(nowMs, moves[0]?.timeMs ?? 0);
  const atMs = at === undefined || Number.isNaN(Date.parse(at)) ? untilMs : Math.min(Date.parse(at), untilMs);
  const setMoment = (timeMs: number): void => {
    const text = timeMs >= untilMs ? undefined : new Date(timeMs).toISOString();
    void navigate({ search: (before) => ({ ...before, at: text }), replace: true, resetScroll: false });
  };
  const setMeasure = (wanted: Measure): void => {
    const text = wanted === "findings" ? undefined : wanted;
    void navigate({ search: (before) => ({ ...before, by: text }), replace: true, resetScroll: false });
  };
  const here = indexAt(moves, atMs);
  // The moment may be before all moves that are read so far.
  const earlier = useQuery({ ...moveAtQuery(repoUid, tag, atMs), enabled: here < 0 && history.hasNextPage });
  const move = moves[here] ?? earlier.data ?? undefined;
  const newest = moves[0];
  if (newest === undefined)
    return (
      <Page title={name}>
        <Empty title="No such tag" command={`docker push ${window.location.host}/${name}`}>
          A push creates it.
        </Empty>
      </Page>
    );
  return (
    <Page
      title={
        <>
          <span className={styles.prefix}>{repo}:</span>
          {tag}
        </>
      }
      tabTitle={name}
      lede={
        newest.isDeletion ? (
          <>Deleted {sinceWords(newest.timeMs)}.</>
        ) : (
          <>
            Points to <code>{shortDigest(newest.digest)}</code> since {sinceWords(newest.timeMs)}.{" "}
            {history.hasNextPage ? "More than " : ""}
            {counted(moves.length, "move")} since {dayWords(moves.at(-1)?.timeMs ?? 0)}.
          </>
        )
      }
    >
      <Panel
        title="Timeline"
        actions={
          <Row>
            <Segmented label="Columns" value={measure} options={MEASURES} onValue={setMeasure} />
            <Earlier history={history} />
          </Row>
        }
      >
        <PanelBody>
          <Timeline
            repo={repo}
            repoUid={repoUid}
            measure={measure}
            moves={moves}
            atMs={atMs}
            nowMs={untilMs}
            onMoment={setMoment}
          />
        </PanelBody>
      </Panel>
      {move !== undefined && move !== newest && !move.isDeletion && !newest.isDeletion && (
        <AbPanel repo={repo} repoUid={repoUid} from={move} to={newest} />
      )}
      <Section title="At this moment">
        <Card>
          <Facts
            facts={[
              ["Moment", exactTime(new Date(atMs).toISOString())],
              ["Digest", earlier.isFetching ? "…" : move === undefined || move.isDeletion ? NOT_THERE : move.digest],
              ["Since", move && exactTime(new Date(move.timeMs).toISOString())],
            ]}
          />
          {move !== undefined && move.digest !== "" && (
            <Row>
              <Rollback
                repoUid={repoUid}
                tag={tag}
                digest={move.digest}
                current={newest.isDeletion ? "" : newest.digest}
              />
              <a href={`/image?name=${encodeURIComponent(`${repo}@${move.digest}`)}`}>Open the image</a>
            </Row>
          )}
        </Card>
        {move !== undefined && !move.isDeletion && <PullCard name={repo} tag={tag} digest={move.digest} atMs={atMs} />}
      </Section>
      <Section title="Moves" actions={<CompareButton repo={repo} digests={digestsOf(moves, compared)} />}>
        <MovesTable
          repo={repo}
          moves={moves}
          compared={compared}
          onCompare={setCompared}
          onMoment={setMoment}
          onMore={history.hasNextPage ? () => void history.fetchNextPage() : undefined}
          isLoadingMore={history.isFetchingNextPage}
        />
      </Section>
    </Page>
  );
}

const day = new Intl.DateTimeFormat("en", { dateStyle: "long" });

function dayWords(timeMs: number): string {
  return day.format(timeMs);
}

function sinceWords(timeMs: number): string {
  return relativeTime(new Date(timeMs).toISOString(), Date.now());
}

interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** Reads more of a history that is longer than a page. */
function Earlier({ history }: { history: Pages }) {
  if (!history.hasNextPage) return null;
  const reason = history.isFetchingNextPage ? "Loading" : undefined;
  return (
    <Button disabledReason={reason} onClick={() => void history.fetchNextPage()}>
      Show earlier moves
    </Button>
  );
}

/** The digests of the chosen moves, oldest first. */
function digestsOf(moves: readonly { timeMs: number; digest: string }[], chosen: ReadonlySet<string>): string[] {
  return moves
    .filter(({ timeMs }) => chosen.has(String(timeMs)))
    .map(({ digest }) => digest)
    .toReversed();
}

function CompareButton({ repo, digests }: { repo: string; digests: readonly string[] }) {
  const [from = "", to = ""] = digests;
  const navigate = useNavigate();
  const reason = digests.length === 2 ? undefined : "Select two moves to compare";
  const params = new URLSearchParams({ from: `${repo}@${from}`, to: `${repo}@${to}` });
  return (
    <Button disabledReason={reason} onClick={() => void navigate({ href: `/compare?${params.toString()}` })}>
      Compare two
    </Button>
  );
}
