import { eventRetention, type EventRetentionDeps } from "../events/index.ts";
import type { Chore } from "./scheduler.ts";

export interface EventCleanerDeps extends EventRetentionDeps {
  log: { info(fields: object, message: string): void };
}

const EVERY_MS = 3_600_000;

/**
 * The chore that removes events and deliveries when they are as old as the settings say. `stop` waits for the step that
 * is under way.
 */
export function eventCleaner({ log, ...deps }: EventCleanerDeps): { chore: Chore; stop(): Promise<void> } {
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const run = async (): Promise<void> => {
    const cleaning = eventRetention(deps, stopping.signal);
    running = cleaning.catch(() => {});
    log.info(await cleaning, "old events removed");
  };
  return {
    chore: { work: "events", everyMs: EVERY_MS, run },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
