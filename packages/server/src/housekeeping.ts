import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Keyring } from "./access/index.ts";
import { ANONYMOUS } from "./call.ts";
import { cleanUploads, type RegistryDeps } from "./distribution/index.ts";
import type { Transactor } from "./transaction.ts";

export interface HousekeepingDeps {
  transactor: Transactor;
  keyring: Keyring;
  registry: RegistryDeps;
  /** The age at which a signing key is replaced, in milliseconds. */
  signingKeyAgeMs: number;
  log: Logger;
}

const EVERY_MS = 3_600_000;

/** Replaces old signing keys, now and every hour, and removes abandoned uploads every hour. Rejects when the first rotation fails. */
export async function startHousekeeping({ transactor, keyring, registry, signingKeyAgeMs, log }: HousekeepingDeps): Promise<{ stop(): void }> {
  const rotate = async (): Promise<void> => {
    const data = { caller: ANONYMOUS, requestId: randomUUID(), nowMs: registry.clock.nowMs(), remoteAddress: "", userAgent: "" };
    const { rotated } = await transactor.write("access.rotateKeys", data, { maxAgeMs: signingKeyAgeMs });
    if (!rotated) return;
    keyring.refresh();
    log.info("signing key rotated");
  };
  await rotate();
  const timer = setInterval(() => {
    rotate().catch((error: unknown) => log.error({ err: error }, "rotating the signing key failed"));
    cleanUploads(registry).then((done) => log.info(done, "abandoned uploads cleaned"), (error: unknown) => log.error({ err: error }, "cleaning uploads failed"));
  }, EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}
