import { createHash, randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Config } from "@moorage/kernel/config";
import type { CallData } from "@moorage/kernel/core/call";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { select } from "@moorage/kernel/store";
import { startWorker, type Wakes, whileHeld } from "@moorage/kernel/work";
import { checkNextSignatures } from "../attached/check.ts";
import { checkNextSigner } from "../attached/signer-changes.ts";
import { READING_STATE } from "../command-options.ts";
import type { ClaimedSigned } from "../queue/claim-contents.ts";
import {
  claimSignatures,
  failSignatures,
  finishSignatures,
  HOLD_MS,
  releaseSignatures,
  renewSignatures,
} from "../queue/queue.ts";
import { checkNextCertificateStatus, useCertificateStatuses } from "../revocation/statuses.ts";
import { readSigstoreRoot, readSigstoreTuf } from "../roots/file.ts";
import { noteTrustRoot } from "../roots/note.ts";
import { createVerifier, type Verifier } from "./verifier.ts";

export interface SignatureDeps {
  config: Pick<
    Config,
    | "dataDir"
    | "blobsUrl"
    | "sigstoreRootFile"
    | "sigstoreTufUrl"
    | "sigstoreTufRootFile"
    | "allowPrivateNetwork"
    | "revocation"
    | "workPollMs"
  >;
  transactor: Transactor;
  wakes: Wakes;
  clock: Clock;
  log: Logger;
}

/** The most that is looked at between two manifests, so that these go on being verified. */
const MAX_CHECKS = 50;

/**
 * Looks at what signatures may have been attached to, and verifies what waits, in this process a manifest at a time;
 * processes share the work. `stop` ends what is under way, which another process or the next start does again.
 */
export function startSignatures({ config, transactor, wakes, clock, log }: SignatureDeps): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const holder = randomUUID();
  const { dataDir, blobsUrl, revocation } = config;
  const sigstoreRoot = readSigstoreRoot(config);
  const tufSource = readSigstoreTuf(config)?.source ?? "";
  const verifier = createVerifier(
    { dataDir, blobsUrl, sigstoreRoot, isAsking: revocation === "online" },
    (reason, kind) => log.warn({ reason, kind }, "a process that verifies signatures ended"),
  );
  const data = (): CallData => systemCallNow(clock);
  /** Verifies it; once more by what was known of its certificates without being known to belong to it. */
  const verifyBy = async (claimed: ClaimedSigned, ends: AbortSignal): ReturnType<Verifier["verify"]> => {
    const answer = await verifier.verify(claimed, clock.nowMs(), ends);
    if (answer === undefined || !("needs" in answer)) return answer;
    const { subject, manifest, statuses: given } = claimed;
    const { needs } = answer;
    if (needs.length === 0 && Object.keys(given).length === 0) return answer;
    const { statuses } = await transactor.write(useCertificateStatuses, data(), { subject, manifest, needs });
    const isMore = Object.entries(statuses).some(
      ([key, { state, failedMs }]) => given[key] === undefined && (state !== "none" || failedMs !== undefined),
    );
    return isMore ? await verifier.verify({ ...claimed, statuses }, clock.nowMs(), ends) : answer;
  };
  const verifyOne = async (claimed: ClaimedSigned): Promise<void> => {
    const { subject, manifest, signers } = claimed;
    const reading = { subject, manifest, holder };
    const renew = (): Promise<{ held: boolean }> => transactor.write(renewSignatures, data(), reading);
    await whileHeld({ renew, holdMs: HOLD_MS, log, what: "signatures" }, async (lost) => {
      const answer = await verifyBy(claimed, AbortSignal.any([signal, lost]));
      if (answer === undefined) return await transactor.write(releaseSignatures, data(), reading);
      if ("entries" in answer) {
        const against = signers.map(({ uid, version }): [string, string] => [uid, version]);
        await transactor.write(finishSignatures, data(), { ...reading, entries: answer.entries, signers: against });
        return;
      }
      log.warn({ subject, manifest, reason: answer.reason }, "signatures could not be verified");
      await transactor.write(failSignatures, data(), { ...reading, ...answer });
    });
  };
  const whatWaits = async (): Promise<{ checks: boolean; signers: boolean; statuses: boolean; readings: boolean }> =>
    await transactor.read(data(), async ({ tx }) => {
      const [row] = await select<Record<"checks" | "signers" | "statuses" | "readings", number | null>>(
        tx,
        `select (select 1 from signature_checks limit 1) as checks, (select 1 from signer_checks limit 1) as signers,
           (select 1 from certificate_statuses where check_time is not null limit 1) as statuses,
           (select 1 from signature_readings where state = ${READING_STATE.waiting} and hold_until <= ? limit 1) as readings`,
        [clock.agreedMs()],
      );
      const is = (name: keyof NonNullable<typeof row>): boolean => row?.[name] === 1;
      return { checks: is("checks"), signers: is("signers"), statuses: is("statuses"), readings: is("readings") };
    });
  let isNoted = false;
  const noteRoot = async (): Promise<void> => {
    if (isNoted) return;
    const hash = tufSource === "" ? createHash("sha256").update(sigstoreRoot).digest("hex") : `tuf:${tufSource}`;
    await transactor.write(noteTrustRoot, data(), { hash });
    isNoted = true;
  };
  const run = async (): Promise<void> => {
    await noteRoot();
    for (let isAny = true; isAny && !signal.aborted;) {
      const waits = await whatWaits();
      isAny = waits.checks || waits.signers || waits.statuses || waits.readings;
      for (let left = MAX_CHECKS; waits.checks && left > 0 && !signal.aborted; left--)
        if (!(await transactor.write(checkNextSignatures, data(), {})).checked) break;
      if (waits.signers && !signal.aborted) await transactor.write(checkNextSigner, data(), {});
      if (waits.statuses && !signal.aborted) await transactor.write(checkNextCertificateStatus, data(), {});
      if (signal.aborted || !isAny) continue;
      const { claimed } = await transactor.write(claimSignatures, data(), { holder, tufSource });
      if (claimed !== undefined) await verifyOne(claimed);
    }
  };
  const worker = startWorker({ run, pollMs: config.workPollMs, stopping, log, what: "verifying signatures" });
  wakes.on("signatures", worker.wake);
  return {
    async stop() {
      stopping.abort();
      await worker.stop();
      await verifier.stop();
    },
  };
}
