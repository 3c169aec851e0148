import { randomUUID } from "node:crypto";
import { SyncState } from "@moorage/api";
import type { DueMirror } from "./commands.ts";
import { Code, MoorageError } from "../errors.ts";
import { type MirrorDeps, mirrorCall } from "./context.ts";
import type { Downloads } from "./downloads.ts";
import type { createSources } from "./sources.ts";
import { runTurn, type TurnResult } from "./run.ts";
import { UpstreamError } from "./errors.ts";
import { claimMirror, endTurn, holdMirror } from "./commands.ts";

interface TurnsDeps {
  deps: MirrorDeps;
  sources: ReturnType<typeof createSources>;
  downloads: Downloads;
}

// How often a process looks whether a repo is due.
const LOOK_EVERY_MS = 1_000;
// A process that dies keeps the others from its repos for so long; one that lives asks for more in time.
const HOLD_MS = 60_000;
// A source that sends a byte a minute is not waited for any longer. What was copied stays.
const LONGEST_TURN_MS = 12 * 3_600_000;
const FIRST_BACK_OFF_MS = 30_000;
const LONGEST_BACK_OFF_MS = 3_600_000;
const MAX_MESSAGE = 1_000;

/**
 * Copies repos whose turn it is, as many at a time as the settings say. Processes share the work: each repo is one's at
 * a time.
 */
export function startTurns({ deps, sources, downloads }: TurnsDeps): { stop(): Promise<void> } {
  const { transactor, clock, config, metrics, log } = deps;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let looking = false;

  /** How long the first of those that are due has been waiting. Undefined: none is. */
  const lateness = async (): Promise<number | undefined> => {
    const nowMs = clock.nowMs();
    const due = await transactor.read(mirrorCall(deps), (call) =>
      call.tx
        .selectFrom("mirrors")
        .select("next_time")
        .where("next_time", "<=", nowMs)
        .where("hold_until", "<=", nowMs)
        .orderBy("next_time")
        .limit(1)
        .executeTakeFirst(),
    );
    metrics.late(due === undefined ? 0 : nowMs - due.next_time);
    return due && nowMs - due.next_time;
  };
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      while ((await lateness()) !== undefined && !stopping.signal.aborted && running.size < config.mirrorWorkers) {
        const holder = randomUUID();
        const due = await transactor.write(claimMirror, mirrorCall(deps), { holder, holdMs: HOLD_MS });
        if (due === undefined) break;
        const unnoted = (error: unknown): void =>
          log.warn({ err: error, repo: due.repo }, "the end of a mirror's turn could not be noted");
        const turn: Promise<void> = take(due, holder)
          .catch(unnoted)
          .finally(() => {
            running.delete(turn);
            void look();
          });
        running.add(turn);
      }
    } catch (error) {
      if (!stopping.signal.aborted) log.warn({ err: error }, "looking for mirrors that are due failed");
    } finally {
      looking = false;
    }
  };

  /** One turn, from the claim to its end. */
  const take = async (due: DueMirror, holder: string): Promise<void> => {
    const { repo, sync, failures } = due;
    const lost = new AbortController();
    const signal = AbortSignal.any([stopping.signal, lost.signal, AbortSignal.timeout(LONGEST_TURN_MS)]);
    const hold = setInterval(() => {
      transactor.write(holdMirror, mirrorCall(deps), { repo, holder, holdMs: HOLD_MS }).then(
        ({ held }) => {
          if (!held) lost.abort();
        },
        (error: unknown) => log.warn({ err: error, repo }, "keeping a mirror failed"),
      );
    }, HOLD_MS / 3);
    const startedMs = performance.now();
    metrics.begin();
    let outcome = "stopped";
    try {
      const turn = async (): Promise<TurnResult & { intervalMs?: number }> => {
        const source = sources(due);
        if (source === undefined) throw new UpstreamError("refused", "the repo's source is of no known form");
        const { settings, upstream } = source;
        return {
          ...(await runTurn({ deps, downloads, upstream, place: { repo, sync, holder }, signal }, settings)),
          intervalMs: settings.intervalMs,
        };
      };
      const result = await turn().catch((error: unknown) =>
        failureOf(error, signal, stopping.signal.aborted || lost.signal.aborted),
      );
      if (result === undefined) {
        // Another process goes on with it.
        await transactor.write(endTurn, mirrorCall(deps), {
          repo,
          holder,
          state: SyncState.PENDING,
          message: "",
          nextInMs: 0,
        });
        return;
      }
      outcome = OUTCOMES[result.state];
      const nextInMs =
        (result.state === SyncState.SUCCEEDED ? result.intervalMs : undefined) ?? backOffMs(failures, result);
      const message = result.message.slice(0, MAX_MESSAGE);
      await transactor.write(endTurn, mirrorCall(deps), {
        repo,
        holder,
        nextInMs,
        message,
        state: result.state,
        tagsSeen: result.tagsSeen,
      });
      const fields = { repo, outcome, tags: result.tagsSeen, durationMs: Math.round(performance.now() - startedMs) };
      if (result.state === SyncState.SUCCEEDED) log.info(fields, "mirror copied");
      else log.warn({ ...fields, problem: result.message }, "mirror not copied whole");
    } finally {
      clearInterval(hold);
      metrics.end(outcome);
    }
  };

  /** What a turn that threw came to. Undefined: it was told to stop, or somebody else has the repo now. */
  const failureOf = (
    error: unknown,
    signal: AbortSignal,
    stopped: boolean,
  ): (TurnResult & { intervalMs?: number }) | undefined => {
    if (stopped || (error instanceof MoorageError && error.code === Code.Aborted)) return undefined;
    const failed = (message: string): TurnResult => ({ state: SyncState.FAILED, message });
    if (signal.aborted) return failed("the turn took too long; the next one goes on from there");
    if (error instanceof UpstreamError) return failed(error.message);
    log.warn({ err: error }, "a mirror's turn failed");
    return failed(error instanceof MoorageError ? error.message : "an error of this server, which its log tells of");
  };

  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  void look();
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await Promise.allSettled(running);
    },
  };
}

const OUTCOMES = {
  [SyncState.SUCCEEDED]: "succeeded",
  [SyncState.FAILED]: "failed",
  [SyncState.RATE_LIMITED]: "rate_limited",
} as const;

/** Longer after each failure, and never before the source wants to be asked. Not all at the same time. */
function backOffMs(failures: number, { retryAfterMs = 0 }: TurnResult): number {
  const longest = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(failures, 20));
  return Math.round(Math.max(longest * (0.5 + Math.random() / 2), retryAfterMs * (1 + Math.random() / 10)));
}
