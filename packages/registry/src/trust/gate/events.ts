import { createHash } from "node:crypto";
import { SignatureGateDecisionSchema } from "@moorage/api/messages";
import { sql } from "kysely";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { pathOf } from "@moorage/kernel/core/image-path";
import { civilTime } from "@moorage/kernel/lib/timestamps";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { HoldingPolicy } from "../judging/types.ts";
import { MAX_POLICIES, outcomeWord } from "../judging/words.ts";

/** What policies made of one request. `tag`: that was asked for, or is to point to the image; may be empty. */
export interface SignatureNote {
  repo: string;
  digest: string;
  tag: string;
  action: "pull" | "promote" | "copy";
  /** Whether it was rejected; otherwise it was only previewed. */
  isRejected: boolean;
  holding: readonly HoldingPolicy[];
}

const DAY_MS = 24 * 3_600_000;
const MAX_REMOVED = 100;

/** A text that is the same as long as the policies say the same. */
export function holdingHash(holding: readonly HoldingPolicy[]): string {
  const said = holding.map(({ uid, outcome, enforces }) => `${uid} ${outcome} ${enforces}`);
  return createHash("sha256").update(said.join("\n")).digest("hex");
}

/**
 * Emits the event of what policies made of a request: for an image and an action once in 24 hours, and when they say
 * something else.
 */
export async function emitSignatureGate(call: Call, note: SignatureNote): Promise<void> {
  const { repo, digest, tag, action, isRejected, holding } = note;
  const mode = isRejected ? "rejected" : "previewed";
  const hash = holdingHash(holding);
  const noted = await call.tx
    .insertInto("signature_gate_events")
    .values({ repo, digest, action, mode, hash, time: call.nowMs })
    .onConflict((conflict) =>
      conflict
        .columns(["repo", "digest", "action"])
        .doUpdateSet({ mode, hash, time: call.nowMs })
        .where(
          sql<boolean>`(signature_gate_events.time <= ${call.nowMs - DAY_MS} or signature_gate_events.mode <> ${mode} or signature_gate_events.hash <> ${hash})`,
        ),
    )
    .returning("repo")
    .executeTakeFirst();
  if (noted === undefined) return;
  const { nowMs, remoteAddress, userAgent } = call;
  call.emit(SignatureGateDecisionSchema, {
    type: `registry.signature_gate.${mode}.v1`,
    subject: repo,
    group: parentOf(repo),
    body: {
      repository: await pathOf(call.tx, repo),
      repoId: repo,
      tag,
      digest,
      action,
      policies: holding.slice(0, MAX_POLICIES).map(({ uid, name, outcome, reason }) => ({
        uid,
        name,
        outcome: outcomeWord(outcome),
        reason,
      })),
      when: civilTime(nowMs),
      remoteAddress,
      userAgent,
    },
  });
}

/** Emits the event of a pull, which is answered without waiting for it, and forgets events of long ago. */
export const noteSignaturePull = command(
  "trust.noteSignaturePull",
  async (call: Call, note: SignatureNote): Promise<void> => {
    await emitSignatureGate(call, note);
    const old = await call.tx
      .selectFrom("signature_gate_events")
      .select(["repo", "digest", "action"])
      .where("time", "<=", call.nowMs - DAY_MS)
      .orderBy("time")
      .limit(MAX_REMOVED)
      .execute();
    for (const { repo, digest, action } of old)
      await call.tx
        .deleteFrom("signature_gate_events")
        .where("repo", "=", repo)
        .where("digest", "=", digest)
        .where("action", "=", action)
        .where("time", "<=", call.nowMs - DAY_MS)
        .execute();
  },
  // It changes rows of one image alone, and only on condition; see docs/adr/0012 for what it appends.
  { isolation: "read committed" },
);
