import { SyncState } from "@moorage/api/messages";
import { whileHeld } from "@moorage/kernel/work";
import {
  claimFollow,
  type DueFollow,
  endFollow,
  FOLLOW_HOLD_MS,
  followRules,
  type HeldFollow,
  holdFollow,
} from "../../upstreams/index.ts";
import { type MirrorDeps, mirrorCall } from "../context.ts";
import { UpstreamError } from "../errors.ts";
import { backOffMs, failureOf, LONGEST_RUN_MS } from "../run.ts";
import { type FollowDeps, runTurn, type TurnResult } from "./turn.ts";

/** A turn that was claimed. */
export interface ClaimedFollow {
  due: DueFollow;
  held: HeldFollow;
}

/** Signals that end a turn early; its upstream stays due. */
export interface FollowEnds {
  pause: AbortSignal;
  /** The turn ends as it is. */
  stop: AbortSignal;
}

const MAX_MESSAGE = 2_000;

/** Claims the upstream whose turn is due. Undefined when none is. */
export async function claimDueFollow(deps: MirrorDeps, holder: string): Promise<ClaimedFollow | undefined> {
  const due = await deps.transactor.write(claimFollow, mirrorCall(deps), { holder });
  return due && { due, held: { upstream: due.upstream.uid, holder } };
}

/** Has a claimed turn and records how it ended. Rejects when that cannot be recorded. */
export async function followClaimed(context: FollowDeps, claimed: ClaimedFollow, ends: FollowEnds): Promise<void> {
  const { deps } = context;
  const { due, held } = claimed;
  const renew = (): Promise<{ held: boolean }> => deps.transactor.write(holdFollow, mirrorCall(deps), held);
  const result = await whileHeld(
    { renew, holdMs: FOLLOW_HOLD_MS, log: deps.log, what: "a registry that is followed" },
    async (lost): Promise<TurnResult | undefined> => {
      const givenUp = AbortSignal.any([ends.stop, lost]);
      const signal = AbortSignal.any([givenUp, AbortSignal.timeout(LONGEST_RUN_MS)]);
      try {
        return await runTurn(context, due, held, { signal, pause: ends.pause });
      } catch (error) {
        return givenUp.aborted ? undefined : failed(deps, error, signal);
      }
    },
  );
  await record(deps, claimed, result);
}

function failed(deps: MirrorDeps, error: unknown, signal: AbortSignal): TurnResult | undefined {
  const failure = failureOf(deps, error, signal);
  if (failure === undefined) return undefined;
  const isLimited = error instanceof UpstreamError && error.kind === "limited";
  return {
    state: isLimited ? SyncState.RATE_LIMITED : failure.state,
    message: failure.message,
    ...(error instanceof UpstreamError && { retryAfterMs: error.retryAfterMs }),
    heldDeletions: 0,
  };
}

/** Records a result; without one, that the turn was interrupted: it is due immediately, for any process. */
async function record(
  { transactor, clock, log }: MirrorDeps,
  { due, held }: ClaimedFollow,
  result: TurnResult | undefined,
): Promise<void> {
  const { state, message, repositories, missingRepositories, heldDeletions, read, reports } = result ?? INTERRUPTED;
  const { intervalMs } = followRules(due.upstream.follow ?? "{}");
  const nextInMs =
    state === SyncState.PENDING ? 0 : state === SyncState.SUCCEEDED ? intervalMs : backOff(due, intervalMs, result);
  await transactor.write(endFollow, mirrorCall({ clock }), {
    ...held,
    dueMs: due.dueMs,
    state,
    message: message.slice(0, MAX_MESSAGE),
    nextInMs,
    repositories,
    missingRepositories,
    heldDeletions,
    read,
    reports,
  });
  if (state === SyncState.PENDING) return;
  const fields = { upstream: held.upstream, repositories, missingRepositories };
  if (state === SyncState.SUCCEEDED) log.info({ ...fields, note: message }, "registry followed");
  else log.warn({ ...fields, problem: message }, "registry not followed whole");
}

const INTERRUPTED: TurnResult = { state: SyncState.PENDING, message: "", heldDeletions: 0 };

/** A turn after a failed one comes sooner than usual, never later, but for what the registry asks. */
function backOff({ failures }: DueFollow, intervalMs: number, result: TurnResult | undefined): number {
  const soonMs = Math.min(intervalMs, backOffMs(failures, {}));
  const retryAfterMs = result?.retryAfterMs;
  return Math.round(retryAfterMs === undefined ? soonMs : Math.max(soonMs, backOffMs(0, { retryAfterMs })));
}
