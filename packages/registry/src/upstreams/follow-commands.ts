import { FollowWay, SyncState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { milliseconds, timestamp } from "@moorage/kernel/lib/timestamps";
import { type Row, select } from "@moorage/kernel/store";
import { leaseOn } from "@moorage/kernel/work";
import { groupPath } from "../registry/index.ts";
import { followStateOf, writeFollowState } from "./follow-state.ts";

// The commands by which registries are followed. The server itself acts, so no capabilities are checked.

/** How long the upstreams of a process that died stay held, in milliseconds. */
export const FOLLOW_HOLD_MS = 60_000;
const FOLLOWS = leaseOn({ table: "upstream_follows", key: ["upstream"], holdMs: FOLLOW_HOLD_MS });

/** An upstream that a process holds, whose registry is to be looked through. */
export interface DueFollow {
  upstream: Row<"registry_upstreams">;
  /** The path of its group. */
  path: string;
  /** When the turn began: before this process has it, if another one was interrupted. In milliseconds since 1970. */
  turnMs: number;
  isForced: boolean;
  /** When it was due, in milliseconds of the agreed time. */
  dueMs: number;
  failures: number;
  /** When the last turn began after which all was here, in milliseconds since 1970; null without one. */
  successMs: number | null;
  /** When the last such turn began that compared all by the API of a Moorage; null unless the last turn was by that. */
  comparedMs: number | null;
  /** Whether the last turn found that the registry is a Moorage. */
  isEdge: boolean;
  /** Up to when pulls here were reported to the registry, in milliseconds since 1970; null when none were. */
  reportedMs: number | null;
}

/** Claims the upstream whose turn has been due for the longest. Undefined when none is. */
export const claimFollow = command(
  "upstreams.claimFollow",
  async (call: Call, { holder }: { holder: string }): Promise<DueFollow | undefined> => {
    const due = await nextFollow(call);
    if (due === undefined) return undefined;
    const turnMs = due.turn_time ?? call.nowMs;
    const isTaken = await FOLLOWS.take(call, { upstream: due.upstream, holder }, { turn_time: turnMs });
    if (!isTaken) return undefined;
    const upstream = await call.tx
      .selectFrom("registry_upstreams")
      .selectAll()
      .where("uid", "=", due.upstream)
      .executeTakeFirst();
    if (upstream === undefined) return undefined;
    const { way, apiProblem, lastComparisonTime, reportedTime } = followStateOf(upstream.follow_state);
    const isByApi = way === FollowWay.API && apiProblem === "";
    await writeFollowState(call, due.upstream, due, { state: SyncState.RUNNING });
    return {
      upstream,
      path: await groupPath(call.tx, upstream.parent),
      turnMs,
      isForced: due.forced === 1,
      dueMs: due.next_time,
      failures: due.failures,
      successMs: due.success_time,
      comparedMs: isByApi && lastComparisonTime !== undefined ? milliseconds(lastComparisonTime) : null,
      isEdge: way === FollowWay.API || apiProblem !== "",
      reportedMs: reportedTime === undefined ? null : milliseconds(reportedTime),
    };
  },
);

/** The upstream whose turn has been due for the longest, of those that nobody holds. */
export async function nextFollow({ tx, agreedMs }: Call): Promise<Row<"upstream_follows"> | undefined> {
  return await tx
    .selectFrom("upstream_follows as f")
    .innerJoin("registry_upstreams as u", "u.uid", "f.upstream")
    .selectAll("f")
    .where("f.next_time", "<=", agreedMs)
    .where("f.hold_until", "<=", agreedMs)
    .where("u.disabled", "=", 0)
    .orderBy("f.next_time")
    .limit(1)
    .executeTakeFirst();
}

/** A turn of an upstream, and the process that has it. */
export interface HeldFollow {
  upstream: string;
  holder: string;
}

/** Extends the hold on the upstream. `held` is false when the turn no longer has it, and must end. */
export const holdFollow = command(
  "upstreams.holdFollow",
  async (call: Call, held: HeldFollow): Promise<{ held: boolean }> => ({
    held: (await FOLLOWS.renew(call, held, ["upstream"])) !== undefined,
  }),
);

/** How a repo of a turn ended. */
export interface FollowedRepo extends HeldFollow {
  repo: string;
  turnMs: number;
  /** How many tags are to be copied of it, and how many of them were not; undefined when they could not be listed. */
  tags: number | undefined;
  missing: number;
  /** Whether all was copied. */
  isWhole: boolean;
}

/** Notes how a repo of a turn ended; nothing for a turn that no longer has its upstream. */
export const noteFollowedRepo = command(
  "upstreams.noteFollowedRepo",
  async (call: Call, { upstream, holder, repo, turnMs, tags, missing, isWhole }: FollowedRepo): Promise<void> => {
    if (tags === undefined && !isWhole) return;
    if ((await FOLLOWS.renew(call, { upstream, holder }, ["upstream"])) === undefined) return;
    await call.tx
      .updateTable("upstream_repos")
      .set({
        ...(tags !== undefined && { follow_tags: tags, missing_tags: missing }),
        ...(isWhole && { follow_time: turnMs }),
      })
      .where("repo", "=", repo)
      .where("upstream", "=", upstream)
      .execute();
  },
);

/** How a turn ended. */
export interface FollowEnd extends HeldFollow {
  dueMs: number;
  /** PENDING: it was interrupted, and is to go on. */
  state: SyncState;
  message: string;
  /** In how many milliseconds the next turn is due, unless one was requested meanwhile. */
  nextInMs: number;
  /** How many repositories are to be followed, and how many of them did not come whole; undefined leaves the last. */
  repositories: number | undefined;
  missingRepositories: number | undefined;
  /** How many tags are gone there and stay here although they are to go, too. */
  heldDeletions: number;
  /** How the registry was read; undefined leaves what was last. */
  read?: FollowRead | undefined;
  /** What became of the reports of pulls; undefined where none are made. */
  reports?: FollowReports | undefined;
}

/** How a registry was read. */
export interface FollowRead {
  way: FollowWay;
  /** Why a Moorage was not read by its API; empty otherwise. */
  apiProblem: string;
  /** Whether every tag was compared, by the API. */
  isComparison: boolean;
}

/** What became of the reports of pulls to a Moorage. */
export interface FollowReports {
  /** Up to when pulls here were reported, in milliseconds since 1970; null when none were. */
  untilMs: number | null;
  problem: string;
  /** How many images wait. */
  pending: number;
  /** How many of the reported images were not noted there. */
  unnoted: number;
}

/** Records how a turn ended, and releases the upstream. Does nothing when the turn no longer has it. */
export const endFollow = command("upstreams.endFollow", async (call: Call, end: FollowEnd): Promise<void> => {
  const { upstream, holder, state } = end;
  const row = await FOLLOWS.renew(call, { upstream, holder }, [
    "next_time",
    "turn_time",
    "success_time",
    "failures",
    "forced",
  ]);
  if (row === undefined) return;
  const isEnd = state !== SyncState.PENDING;
  const succeeded = state === SyncState.SUCCEEDED;
  // Another time than that of the claim means that a turn was requested since then.
  const isRequested = row.next_time !== end.dueMs;
  const set = {
    next_time: isRequested ? row.next_time : call.agreedMs + end.nextInMs,
    turn_time: isEnd ? null : row.turn_time,
    success_time: succeeded ? row.turn_time : row.success_time,
    failures: succeeded ? 0 : isEnd ? row.failures + 1 : row.failures,
    forced: isEnd && !isRequested ? 0 : row.forced,
  };
  await FOLLOWS.end(call, { upstream }, set);
  const { tags, missing } = await tagsOf(call, upstream);
  await writeFollowState(call, upstream, set, {
    state: isEnd && isRequested ? SyncState.PENDING : state,
    tags: BigInt(tags),
    missingTags: BigInt(missing),
    ...(isEnd && {
      message: end.message,
      lastAttemptTime: timestamp(call.nowMs),
      heldDeletions: BigInt(end.heldDeletions),
      ...(end.repositories !== undefined && { repositories: BigInt(end.repositories) }),
      ...(end.missingRepositories !== undefined && { missingRepositories: BigInt(end.missingRepositories) }),
      ...readFields(end, succeeded && end.read?.isComparison === true ? row.turn_time : null),
      ...reportFields(end.reports),
    }),
  });
});

function readFields({ read }: FollowEnd, comparedMs: number | null) {
  if (read === undefined) return {};
  const { way, apiProblem } = read;
  return { way, apiProblem, ...(comparedMs !== null && { lastComparisonTime: timestamp(comparedMs) }) };
}

function reportFields(reports: FollowReports | undefined) {
  if (reports === undefined) return {};
  const { untilMs, problem, pending, unnoted } = reports;
  return {
    ...(untilMs !== null && { reportedTime: timestamp(untilMs) }),
    reportProblem: problem,
    pendingReports: BigInt(pending),
    unnotedReports: BigInt(unnoted),
  };
}

async function tagsOf({ tx }: Call, upstream: string): Promise<{ tags: number; missing: number }> {
  const [found] = await select<{ tags: number | null; missing: number | null }>(
    tx,
    "select sum(follow_tags) as tags, sum(missing_tags) as missing from upstream_repos where upstream = ?",
    [upstream],
  );
  return { tags: Number(found?.tags ?? 0), missing: Number(found?.missing ?? 0) };
}

/** A repo that came from an upstream. */
export interface KnownRepo {
  repo: string;
  /** Its name at the registry. */
  name: string;
  followTime: number | null;
}

const PAGE = 1_000;

/** The repos that came from an upstream, in no order. */
export async function knownRepos({ tx }: Call, upstream: string, most: number): Promise<KnownRepo[]> {
  const found: KnownRepo[] = [];
  for (let after: string | undefined = ""; after !== undefined && found.length < most;) {
    const rows: KnownRepo[] = await select<KnownRepo>(
      tx,
      `select repo, name, follow_time as "followTime" from upstream_repos
       where upstream = ? and repo > ? order by repo limit ${PAGE}`,
      [upstream, after],
    );
    for (const row of rows) found.push(row);
    after = rows.length < PAGE ? undefined : rows.at(-1)?.repo;
  }
  return found;
}

/** The commands by which registries are followed. */
export const followCommands = [claimFollow, holdFollow, noteFollowedRepo, endFollow] as const;
