import type { Logger } from "pino";
import type { Database } from "@moorage/kernel/store";
import { headOf, isOfHistory, type Place } from "./feed/history.ts";

export interface HistoryWatchDeps {
  reader: Database;
  log: Logger;
  /** Called after each look with the number of the newest event. */
  newest(seq: number): void;
  /** Called when the database was replaced by an older copy of itself: whatever was read from it may be wrong. */
  wentBack(): void;
  /** How often to look, in milliseconds. */
  everyMs?: number;
}

const EVERY_MS = 5_000;

/**
 * Remembers the newest event that this process has seen, and looks regularly whether the database still has it.
 * Resolves after the first look.
 */
export async function startHistoryWatch({
  reader,
  log,
  newest,
  wentBack,
  everyMs = EVERY_MS,
}: HistoryWatchDeps): Promise<{ stop(): Promise<void> }> {
  let known: Place | undefined;
  const look = async (): Promise<void> => {
    const head = await headOf(reader);
    if (known !== undefined && !(await isOfHistory(reader, known, head))) {
      log.error(
        { known: known.seq, newest: head.seq },
        "the database was replaced by an older copy of itself: what was committed since that copy is lost, and readers of the feed have to begin again",
      );
      wentBack();
    }
    newest(head.seq);
    // Its event may be gone because of its age; the one known before says more.
    if (head.mark !== undefined || known === undefined || head.seq < known.seq) known = head;
  };
  let looking: Promise<void> | undefined;
  const start = (): Promise<void> =>
    (looking ??= look()
      .catch((error: unknown) => log.warn({ err: error }, "looking for the newest event failed"))
      .finally(() => {
        looking = undefined;
      }));
  await start();
  const timer = setInterval(() => void start(), everyMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
