import { auditRetention, type RetentionDeps } from "../audit/index.ts";
import type { Chore } from "./scheduler.ts";

export interface AuditCleanerDeps extends RetentionDeps {
  log: { info(fields: object, message: string): void };
}

const EVERY_MS = 3_600_000;

/** The chore that keeps the audit log as short as the settings say. `stop` waits for the step that is under way. */
export function auditCleaner({ log, ...deps }: AuditCleanerDeps): { chore: Chore; stop(): Promise<void> } {
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const run = async (): Promise<void> => {
    const cleaning = auditRetention(deps, stopping.signal);
    running = cleaning.catch(() => {});
    log.info(await cleaning, "old audit entries removed");
  };
  return {
    chore: { work: "audit", everyMs: EVERY_MS, run },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
