import type { Logger } from "pino";
import type { Config } from "@moorage/kernel/config";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { startWorker, type Wakes } from "@moorage/kernel/work";
import { countQuotas } from "./commands.ts";

interface QuotaDeps {
  config: Pick<Config, "workPollMs">;
  transactor: Transactor;
  wakes: Wakes;
  clock: Clock;
  log: Logger;
}

/**
 * Counts what the groups of new quotas have, in short transactions; those of several processes do not disturb each
 * other. `stop` ends it after the one under way.
 */
export function startQuotas({ config, transactor, wakes, clock, log }: QuotaDeps): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const isAnyUncounted = (): Promise<boolean> =>
    transactor.read(systemCallNow(clock), async ({ tx }) => {
      const row = await tx.selectFrom("quotas").select("uid").where("counted_to", "<", "9").limit(1).executeTakeFirst();
      return row !== undefined;
    });
  const worker = startWorker({
    async run() {
      // What serves without a quota writes nothing.
      let isAny = await isAnyUncounted();
      while (isAny && !stopping.signal.aborted)
        ({ isAny } = await transactor.write(countQuotas, systemCallNow(clock), {}));
    },
    what: "counting what groups with quotas have",
    pollMs: config.workPollMs,
    stopping,
    log,
  });
  wakes.on("quotas", worker.wake);
  return {
    async stop() {
      stopping.abort();
      await worker.stop();
    },
  };
}
