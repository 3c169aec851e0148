import { SyncState } from "@moorage/api/messages";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { whileHeld } from "@moorage/kernel/work";
import { claimMirror, type DueMirror, endRun, HOLD_MS, holdMirror } from "./commands.ts";
import { type MirrorDeps, mirrorCall } from "./context.ts";
import { copyTags } from "./copy-tags.ts";
import { type CopyResult, failedResult } from "./copy-result.ts";
import type { Downloads } from "./downloads.ts";
import { quotaOfError, quotaWords } from "../registry/index.ts";
import { createReferrerGaps } from "./referrer-gaps.ts";
import { UpstreamError } from "./errors.ts";
import type { createSources } from "./sources.ts";

/** What a run works with. */
export interface RunDeps {
  deps: MirrorDeps;
  sources: ReturnType<typeof createSources>;
  downloads: Downloads;
}

/** A repo that was claimed for a run, and the random id that its row names as the holder. */
export interface ClaimedMirror {
  due: DueMirror;
  holder: string;
}

/** Signals that end a run early; its repo stays due. */
export interface RunEnds {
  /** The run ends after the tag under way. */
  pause: AbortSignal;
  /** The run ends as it is. */
  stop: AbortSignal;
}

/** How a run ended; `intervalMs`: the repo's sync interval, after which the next run is due when this one succeeded. */
type RunResult = CopyResult & { intervalMs?: number };

// Ends the run of a source that sends almost nothing. What was copied stays.
export const LONGEST_RUN_MS = 12 * 3_600_000;
const FIRST_BACK_OFF_MS = 30_000;
const LONGEST_BACK_OFF_MS = 3_600_000;
const MAX_MESSAGE = 1_000;
const OUTCOMES = {
  [SyncState.SUCCEEDED]: "succeeded",
  [SyncState.FAILED]: "failed",
  [SyncState.RATE_LIMITED]: "rate_limited",
} as const;

/** Claims the repo that is to be copied next. Undefined when none is due. */
export async function claimDue(deps: MirrorDeps, holder: string): Promise<ClaimedMirror | undefined> {
  const due = await deps.transactor.write(claimMirror, mirrorCall(deps), { holder });
  return due && { due, holder };
}

/**
 * Copies a claimed repo and records how that ended. Rejects when that cannot be recorded. Returns whether the run came
 * to its end, not to one of `ends`.
 */
export async function runMirror(runDeps: RunDeps, claimed: ClaimedMirror, ends: RunEnds): Promise<boolean> {
  const { deps } = runDeps;
  const { due, holder } = claimed;
  const renew = (): Promise<{ held: boolean }> =>
    deps.transactor.write(holdMirror, mirrorCall(deps), { repo: due.repo, holder });
  const startedMs = performance.now();
  deps.metrics.begin();
  let outcome = "stopped";
  try {
    const result = await whileHeld({ renew, holdMs: HOLD_MS, log: deps.log, what: "a mirror" }, async (lost) => {
      const givenUp = AbortSignal.any([ends.stop, lost]);
      const signal = AbortSignal.any([givenUp, AbortSignal.timeout(LONGEST_RUN_MS)]);
      try {
        return await copyRepo(runDeps, claimed, { signal, pause: ends.pause });
      } catch (error) {
        return givenUp.aborted ? undefined : failureOf(deps, error, signal);
      }
    });
    if (result === undefined) await recordStopped(deps, claimed);
    else {
      outcome = outcomeOf(result);
      await recordResult(deps, claimed, result, startedMs);
    }
    return result !== undefined;
  } finally {
    deps.metrics.end(outcome);
  }
}

async function copyRepo(
  { deps, sources, downloads }: RunDeps,
  { due, holder }: ClaimedMirror,
  { signal, pause }: { signal: AbortSignal; pause: AbortSignal },
): Promise<RunResult | undefined> {
  const source = sources(due);
  if (source === undefined) throw new UpstreamError("refused", "the repo's source is of no known form");
  const { settings, upstream } = source;
  const place = { repo: due.repo, sync: due.sync, holder };
  const job = { deps, downloads, upstream, place, signal, gaps: createReferrerGaps() };
  const result = await copyTags(job, settings, pause);
  return result && { ...result, intervalMs: settings.intervalMs };
}

/** The result of a run that threw. Undefined when the run no longer holds the repo, or its source has changed. */
export function failureOf({ log }: MirrorDeps, error: unknown, signal: AbortSignal): RunResult | undefined {
  if (error instanceof MoorageError && error.code === Code.Aborted) return undefined;
  if (signal.aborted) return failedResult("the run took too long; the next one continues from there");
  if (error instanceof UpstreamError) return failedResult(error.message);
  if (quotaOfError(error) === undefined) log.warn({ err: error }, "a mirror run failed");
  return failedResult(
    error instanceof MoorageError ? quotaWords(error) : "an error of this server; its log has the details",
  );
}

/** How a run ended, for metrics and the log. */
function outcomeOf({ state, isEmpty }: CopyResult): string {
  return isEmpty === true ? "empty" : OUTCOMES[state];
}

/** Records a run that was stopped: the repo is due immediately, for any process. */
async function recordStopped(deps: MirrorDeps, { due: { repo, dueMs }, holder }: ClaimedMirror): Promise<void> {
  const end = { repo, holder, dueMs, state: SyncState.PENDING, message: "", nextInMs: 0 };
  await deps.transactor.write(endRun, mirrorCall(deps), end);
}

/** Records and logs the result of a run, and when the next one is due. */
async function recordResult(
  deps: MirrorDeps,
  { due: { repo, dueMs, failures }, holder }: ClaimedMirror,
  result: RunResult,
  startedMs: number,
): Promise<void> {
  const { transactor, log } = deps;
  const { state, tagsSeen, failed, failedCount } = result;
  const nextInMs = (state === SyncState.SUCCEEDED ? result.intervalMs : undefined) ?? backOffMs(failures, result);
  const message = result.message.slice(0, MAX_MESSAGE);
  for (const [failure, count] of result.counts) deps.metrics.notCopied(failure, count);
  const end = { repo, holder, dueMs, nextInMs, message, state, tagsSeen, failed, failedCount };
  await transactor.write(endRun, mirrorCall(deps), end);
  const durationMs = Math.round(performance.now() - startedMs);
  const fields = { repo, outcome: outcomeOf(result), tags: tagsSeen, failedTags: result.failedCount, durationMs };
  if (state === SyncState.SUCCEEDED && message === "") log.info(fields, "mirror copied");
  else if (state === SyncState.SUCCEEDED) log.info({ ...fields, note: message }, "mirror copied");
  else log.warn({ ...fields, problem: message }, "mirror not copied whole");
}

/**
 * The delay before the run after a failed one: it grows with each failure and is never shorter than the source's
 * Retry-After. Random, so that repos do not all retry together.
 */
export function backOffMs(failures: number, { retryAfterMs = 0 }: Pick<RunResult, "retryAfterMs">): number {
  const longest = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(failures, 20));
  return Math.round(Math.max(longest * (0.5 + Math.random() / 2), retryAfterMs * (1 + Math.random() / 10)));
}
