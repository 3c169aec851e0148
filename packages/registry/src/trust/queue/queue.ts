import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, takeAdvisoryLock } from "@moorage/kernel/store";
import { queueOn } from "@moorage/kernel/work";
import { awaitReading } from "../attached/check.ts";
import { checkSignedDocuments } from "../attached/document-checks.ts";
import { emitVerified, trustedBy } from "../attached/events.ts";
import { READING_STATE, VERIFYING } from "../command-options.ts";
import { NOT_HELD } from "../missing-subject.ts";
import type { VerifiedEntry } from "../verify/types.ts";
import { type ClaimedSigned, claimedOf } from "./claim-contents.ts";
import { writeEntries, writeVerdicts } from "./write.ts";

/** The version of the verification, which is noted with what it has verified. */
const VERIFIER_VERSION = 1;
export const HOLD_MS = 30_000;
const MAX_ATTEMPTS = 3;
const RETRY_MS = 10_000;

const READINGS = queueOn({
  table: "signature_readings",
  key: ["subject", "manifest"],
  holdMs: HOLD_MS,
  open: `state = ${READING_STATE.waiting}`,
  states: READING_STATE,
  ended: ({ nowMs }) => ({ finish_time: nowMs }),
});

/** A manifest, as one with signatures of the subject, and who verifies it. */
export interface HeldReading {
  subject: string;
  manifest: string;
  holder: string;
}

const placeOf = ({ subject, manifest, holder }: HeldReading): HeldReading => ({ subject, manifest, holder });

/**
 * Takes the manifest that has waited longest. None for one that is not to be verified any longer, which has failed.
 * `tufSource`: from where the trust root of the settings comes; empty where that is no mirror.
 */
export const claimSignatures = command(
  "trust.claimSignatures",
  async (
    call: Call,
    { holder, tufSource }: { holder: string; tufSource: string },
  ): Promise<{ claimed?: ClaimedSigned }> => {
    const { tx, agreedMs } = call;
    await takeAdvisoryLock(tx, "signatures");
    const next = () =>
      tx
        .selectFrom("signature_readings")
        .select(["subject", "manifest", "attempts", "reason", "create_time"])
        .where("state", "=", READING_STATE.waiting)
        .where("hold_until", "<=", agreedMs)
        .orderBy("create_time")
        .orderBy("subject")
        .orderBy("manifest")
        .limit(1);
    // Those first for which somebody waits.
    const row = (await next().where("urgent", "=", 1).executeTakeFirst()) ?? (await next().executeTakeFirst());
    if (row === undefined) return {};
    const { create_time, ...place } = row;
    const reason = "the server ended each time while it verified the signatures";
    const outcome = await READINGS.claim(call, place, { holder, maxAttempts: MAX_ATTEMPTS, reason });
    if (outcome !== "held") return {};
    const claimed = await claimedOf(tx, { subject: row.subject, manifest: row.manifest, create_time, tufSource });
    if (claimed !== undefined) return { claimed };
    await READINGS.fail(call, { subject: row.subject, manifest: row.manifest }, "it is not stored here any longer");
    return {};
  },
  VERIFYING,
);

/** Goes on holding the manifest. Answers false when another process has taken it, or it waits anew. */
export const renewSignatures = command(
  "trust.renewSignatures",
  async (call: Call, reading: HeldReading): Promise<{ held: boolean }> => READINGS.isHeld(call, reading),
  VERIFYING,
);

/** The manifest was verified against these signers, each with the version of what it says. */
export const finishSignatures = command(
  "trust.finishSignatures",
  async (
    call: Call,
    {
      entries,
      signers,
      ...reading
    }: HeldReading & { entries: VerifiedEntry[]; signers: [uid: string, version: string][] },
  ): Promise<{ held: boolean }> => {
    const { tx, nowMs } = call;
    await takeAdvisoryLock(tx, "signatures");
    const row = await READINGS.renew(call, placeOf(reading), ["signers", "first_time"]);
    if (row === undefined) return { held: false };
    const place = { subject: reading.subject, manifest: reading.manifest };
    const trusted = await trustedBy(call, place);
    await writeEntries(call, place, entries);
    await writeVerdicts(call, place, entries);
    await checkSignedDocuments(call, place);
    await emitVerified(call, place, { before: trusted, isFirst: row.first_time === null });
    const before = JSON.parse(row.signers) as Record<string, [version: string, sinceMs: number]>;
    const judged = signers.map(([uid, version]) => {
      const [was, sinceMs] = before[uid] ?? [];
      return [uid, [version, was === version ? (sinceMs ?? nowMs) : nowMs]] as const;
    });
    await READINGS.finish(call, place, {
      signers: JSON.stringify(Object.fromEntries(judged)),
      first_time: row.first_time ?? nowMs,
      readers: VERIFIER_VERSION,
      urgent: 0,
    });
    // The subject may have been pushed after this was claimed.
    if (entries.some(({ reason }) => reason === NOT_HELD) && (await isHeld(tx, place.subject)))
      await awaitReading(call, place.subject, place.manifest);
    return { held: true };
  },
  VERIFYING,
);

async function isHeld(tx: Database, digest: string): Promise<boolean> {
  const held = tx.selectFrom("manifests").select("digest").where("digest", "=", digest).limit(1);
  return (await held.executeTakeFirst()) !== undefined;
}

/** The manifest could not be verified. `isFinal`: it would fail again; otherwise it waits, up to MAX_ATTEMPTS. */
export const failSignatures = command(
  "trust.failSignatures",
  async (
    call: Call,
    { reason, isFinal, ...reading }: HeldReading & { reason: string; isFinal: boolean },
  ): Promise<void> => {
    await takeAdvisoryLock(call.tx, "signatures");
    const delayOf = (attempts: number): number | undefined =>
      isFinal || attempts >= MAX_ATTEMPTS ? undefined : attempts * RETRY_MS;
    const came = await READINGS.failAttempt(call, placeOf(reading), { reason, delayOf });
    // What an earlier verification found does not count on: it is not known any longer.
    if (came !== "failed") return;
    const place = { subject: reading.subject, manifest: reading.manifest };
    await writeVerdicts(call, place, []);
    await checkSignedDocuments(call, place);
  },
  VERIFYING,
);

/** Nobody verifies the manifest any longer, since the process shuts down; the attempt does not count. */
export const releaseSignatures = command(
  "trust.releaseSignatures",
  async (call: Call, reading: HeldReading): Promise<void> => READINGS.release(call, reading),
  VERIFYING,
);
