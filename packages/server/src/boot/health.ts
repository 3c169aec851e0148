import type { Logger } from "pino";

/** What keeps this process from being ready, beside starting and ending. */
export interface Health {
  /** What is wrong, in a few words for `/readyz`; undefined when nothing is known to be. */
  problem(): string | undefined;
  /** The engine found the database's file damaged. Logged at most once a minute; only a restart forgets it. */
  damaged(error: Error): void;
  /** Why this program may not write to the database, in one sentence; undefined while it may. */
  outdated(problem: string | undefined): void;
  /** The thread that writes has died, which is a defect. */
  writerDied(error: Error): void;
}

const LOG_EVERY_MS = 60_000;

export function createHealth(log: Logger): Health {
  let problem: string | undefined;
  let outdated: string | undefined;
  let loggedMs = -Infinity;
  return {
    problem: () => problem ?? outdated,
    outdated(found) {
      outdated = found;
    },
    damaged(error) {
      problem ??= "the database is damaged";
      const nowMs = performance.now();
      if (nowMs - loggedMs < LOG_EVERY_MS) return;
      loggedMs = nowMs;
      log.error({ err: error }, "the database is damaged: moorage fsck says where; restore a backup");
    },
    writerDied(error) {
      problem = "the database takes no writes";
      log.fatal({ err: error }, "the writer thread died");
    },
  };
}
