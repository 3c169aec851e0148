import { select } from "@moorage/kernel/store";
import { isoTime } from "@moorage/kernel/lib/timestamps";
import { coversSince, pullCoverage } from "../../registry/index.ts";
import type { DueFollow, FollowReports } from "../../upstreams/index.ts";
import type { CenterClient } from "../center/client.ts";
import { type MirrorDeps, mirrorCall } from "../context.ts";
import { UpstreamError } from "../errors.ts";

/** An image that was pulled here. */
interface Pulled {
  repo: string;
  /** The repo's name at the registry. */
  name: string;
  digest: string;
  time: number;
}

const BATCH = 1_000;
/** In one turn; what is left waits for the next one. */
const MAX_BATCHES = 50;
const MAX_PENDING = 100_000;
// A process writes the pulls that it counts some seconds later, so that the last ones reported may not be all.
const AGAIN_MS = 600_000;
const MAX_SOURCE = 128;

/**
 * Reports what was pulled here to a Moorage, as images that run, by the times of their last pulls. What cannot be
 * reported stays to be, since it is known when what was pulled last. `client`: undefined where the API cannot be used,
 * with why as the problem.
 */
export async function reportPulls(
  deps: MirrorDeps,
  { upstream, path, reportedMs }: DueFollow,
  { client, problem }: { client: CenterClient | undefined; problem: string },
  signal: AbortSignal,
): Promise<FollowReports> {
  const found: FollowReports = { untilMs: reportedMs, problem, pending: 0, unnoted: 0 };
  const source = sourceOf(deps, path);
  // Before the pulls: what it says then holds of them, too.
  const gap = await gapSince(deps, reportedMs);
  try {
    const from = { time: Math.max(0, (reportedMs ?? 0) - AGAIN_MS), repo: "", digest: "" };
    let after: Pick<Pulled, "time" | "repo" | "digest"> | undefined = from;
    for (let batch = 0; client !== undefined && after !== undefined && batch < MAX_BATCHES; batch += 1) {
      const rows: Pulled[] = await pulledAfter(deps, upstream.uid, after);
      if (rows.length > 0) found.unnoted += await send(client, source, rows, signal);
      after = rows.length < BATCH ? undefined : rows.at(-1);
      const last = rows.at(-1);
      if (last !== undefined) found.untilMs = Math.max(found.untilMs ?? 0, last.time);
    }
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    const isDenied = error.status === 401 || error.status === 403;
    found.problem = isDenied ? "the credential may not report usage there (CAP_USAGE_REPORT)" : error.message;
  }
  found.problem = [found.problem, gap].filter((text) => text !== "").join("; ");
  return { ...found, pending: await pendingAfter(deps, upstream.uid, found.untilMs ?? 0) };
}

/** That pulls since the last report are not known here; empty when all are. */
async function gapSince(deps: MirrorDeps, reportedMs: number | null): Promise<string> {
  const coverage = await deps.transactor.read(mirrorCall(deps), ({ tx }) => pullCoverage(tx));
  if (coverage.sinceMs === undefined) return "pulls are not counted here (MOORAGE_PULLS_RETENTION)";
  if (reportedMs === null || coversSince(coverage, reportedMs)) return "";
  return `not all pulls since ${isoTime(reportedMs)} are known here`;
}

/** Where the images run, by the address and the path of the group here. */
function sourceOf({ config }: MirrorDeps, path: string): string {
  return `edge:${new URL(config.baseUrl).host}/${path}`.replace(/[^a-zA-Z0-9._:/@-]/g, "-").slice(0, MAX_SOURCE);
}

/** Answers how many of the images the registry did not note. */
async function send(
  client: CenterClient,
  source: string,
  rows: readonly Pulled[],
  signal: AbortSignal,
): Promise<number> {
  const references = rows.map(({ name, digest, time }) => ({ image: name, digest, time: isoTime(time) }));
  const { unknown } = await client.post("/registry/v2/usage:report", { source, references }, signal);
  return Array.isArray(unknown) ? Math.min(unknown.length, rows.length) : 0;
}

const FROM = `from last_pulls as p join upstream_repos as o on o.repo = p.repo where o.upstream = ?`;

async function pulledAfter(
  deps: MirrorDeps,
  upstream: string,
  { time, repo, digest }: Pick<Pulled, "time" | "repo" | "digest">,
): Promise<Pulled[]> {
  const rows = await deps.transactor.read(mirrorCall(deps), ({ tx }) =>
    select<Pulled>(
      tx,
      `select p.repo, o.name, p.digest, p.time ${FROM} and p.time >= ? and (p.time, p.repo, p.digest) > (?, ?, ?)
       order by p.time, p.repo, p.digest limit ${BATCH}`,
      [upstream, time, time, repo, digest],
    ),
  );
  return rows.map((row) => ({ ...row, time: Number(row.time) }));
}

async function pendingAfter(deps: MirrorDeps, upstream: string, time: number): Promise<number> {
  const [found] = await deps.transactor.read(mirrorCall(deps), ({ tx }) =>
    select<{ n: number }>(
      tx,
      `select count(*) as n from (select 1 as one ${FROM} and p.time > ? limit ${MAX_PENDING}) as waiting`,
      [upstream, time],
    ),
  );
  return Number(found?.n ?? 0);
}
