import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Keyring } from "../auth/index.ts";
import { ANONYMOUS, type CallData } from "../core/call.ts";
import { cleanUploads, type RegistryDeps } from "../oci/index.ts";
import type { Transactor } from "../core/transactor.ts";

/** Work that one process of the installation does for all, now and then. */
export interface Chore {
  /** The name of its lease. */
  work: string;
  /** How long after it was begun it is due again, in milliseconds. */
  everyMs: number;
  run(): Promise<void>;
}

export interface HousekeepingDeps {
  transactor: Transactor;
  keyring: Keyring;
  registry: RegistryDeps;
  /** The age at which a signing key is replaced, in milliseconds. */
  signingKeyAgeMs: number;
  log: Logger;
  /** What else is done, each in its own time. */
  chores?: readonly Chore[];
  /** How often a process looks whether there is something to do, in milliseconds. Default ten minutes. */
  lookEveryMs?: number;
}

const EVERY_MS = 3_600_000;
const LOOK_EVERY_MS = 600_000;
// A process that dies at it keeps the others from it for so long; one that lives asks again in time.
const HOLD_MS = 300_000;

/** The most time between the beginnings of two turns of a chore; of the housekeeping itself when none is given. */
export function longestIntervalMs(everyMs = EVERY_MS): number {
  return everyMs + Math.min(LOOK_EVERY_MS, everyMs);
}

/**
 * Replaces an old signing key now, and every hour does so again and removes abandoned uploads, beside the other chores:
 * one process of the installation does each for all, since its lease in the database is one process's at a time. Two
 * that did it at once, with clocks far apart, would do no harm. Rejects when the first rotation fails.
 */
export async function startHousekeeping(deps: HousekeepingDeps): Promise<{ stop(): void }> {
  const { transactor, keyring, registry, signingKeyAgeMs, log, chores = [], lookEveryMs = LOOK_EVERY_MS } = deps;
  const holder = randomUUID();
  const data = (): CallData => ({
    caller: ANONYMOUS,
    requestId: randomUUID(),
    nowMs: registry.clock.nowMs(),
    remoteAddress: "",
    userAgent: "",
  });
  const rotate = async (): Promise<void> => {
    const { rotated } = await transactor.write("access.rotateKeys", data(), { maxAgeMs: signingKeyAgeMs });
    if (!rotated) return;
    keyring.refresh();
    log.info("signing key rotated");
  };
  const own: Chore = {
    work: "housekeeping",
    everyMs: EVERY_MS,
    async run() {
      await rotate();
      log.info(await cleanUploads(registry), "abandoned uploads cleaned");
    },
  };
  const work = async ({ work: name, everyMs, run }: Chore): Promise<void> => {
    const take = (): Promise<{ taken: boolean }> =>
      transactor.write("leases.take", data(), { work: name, holder, holdMs: HOLD_MS });
    if (!(await take()).taken) return;
    const held = setInterval(
      () => void take().catch((error: unknown) => log.warn({ err: error }, "keeping the lease failed")),
      HOLD_MS / 3,
    ).unref();
    try {
      const startedMs = registry.clock.nowMs();
      await run();
      const tookMs = registry.clock.nowMs() - startedMs;
      await transactor.write("leases.end", data(), { work: name, holder, dueInMs: Math.max(0, everyMs - tookMs) });
    } finally {
      clearInterval(held);
    }
  };
  await rotate();
  let stopped = false;
  const timers = [own, ...chores].map((chore) => {
    let working = false;
    return setInterval(
      () => {
        if (working) return;
        working = true;
        work(chore)
          .catch((error: unknown) => {
            // Broken off at the end of the server, it is not given back: another process takes it when its lease is
            // over, which is soon.
            if (!stopped) log.error({ err: error, work: chore.work }, "housekeeping failed");
          })
          .finally(() => {
            working = false;
          });
      },
      Math.min(lookEveryMs, chore.everyMs),
    ).unref();
  });
  return {
    stop() {
      stopped = true;
      for (const timer of timers) clearInterval(timer);
    },
  };
}
