import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Keyring } from "./access/index.ts";
import { ANONYMOUS, type CallData } from "./call.ts";
import { cleanUploads, type RegistryDeps } from "./distribution/index.ts";
import type { Transactor } from "./transaction.ts";

export interface HousekeepingDeps {
  transactor: Transactor;
  keyring: Keyring;
  registry: RegistryDeps;
  /** The age at which a signing key is replaced, in milliseconds. */
  signingKeyAgeMs: number;
  log: Logger;
  /** How often a process looks whether there is something to do, in milliseconds. Default ten minutes. */
  lookEveryMs?: number;
}

const EVERY_MS = 3_600_000;
const LOOK_EVERY_MS = 600_000;
// A process that dies at it keeps the others from it for so long; one that lives asks again in time.
const HOLD_MS = 300_000;
const WORK = "housekeeping";

/**
 * Replaces an old signing key now, and every hour does so again and removes abandoned uploads: one process of the installation does it for all,
 * since the lease in the database is one process's at a time. Two that did it at once, with clocks far apart, would do no harm.
 * Rejects when the first rotation fails.
 */
export async function startHousekeeping(deps: HousekeepingDeps): Promise<{ stop(): void }> {
  const { transactor, keyring, registry, signingKeyAgeMs, log, lookEveryMs = LOOK_EVERY_MS } = deps;
  const holder = randomUUID();
  const data = (): CallData => ({ caller: ANONYMOUS, requestId: randomUUID(), nowMs: registry.clock.nowMs(), remoteAddress: "", userAgent: "" });
  const rotate = async (): Promise<void> => {
    const { rotated } = await transactor.write("access.rotateKeys", data(), { maxAgeMs: signingKeyAgeMs });
    if (!rotated) return;
    keyring.refresh();
    log.info("signing key rotated");
  };
  const take = (): Promise<{ taken: boolean }> => transactor.write("leases.take", data(), { work: WORK, holder, holdMs: HOLD_MS });
  const work = async (): Promise<void> => {
    if (!(await take()).taken) return;
    const held = setInterval(() => void take().catch((error: unknown) => log.warn({ err: error }, "keeping the lease failed")), HOLD_MS / 3).unref();
    try {
      const startedMs = registry.clock.nowMs();
      await rotate();
      log.info(await cleanUploads(registry), "abandoned uploads cleaned");
      const tookMs = registry.clock.nowMs() - startedMs;
      await transactor.write("leases.end", data(), { work: WORK, holder, dueInMs: Math.max(0, EVERY_MS - tookMs) });
    } finally {
      clearInterval(held);
    }
  };
  await rotate();
  let working = false;
  const timer = setInterval(() => {
    if (working) return;
    working = true;
    work().catch((error: unknown) => log.error({ err: error }, "housekeeping failed")).finally(() => { working = false; });
  }, lookEveryMs).unref();
  return { stop: () => clearInterval(timer) };
}
