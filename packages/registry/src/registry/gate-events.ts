import { createHash } from "node:crypto";
import { GateDecisionSchema } from "@moorage/api/messages";
import { sql } from "kysely";
import { civilTime } from "@moorage/kernel/lib/timestamps";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { pathOf } from "@moorage/kernel/core/image-path";
import { type GatedImage, type GateVerdict, verdictBody } from "./vulnerability-gate.ts";

/** What a gate made of one request. `tag`: that was asked for, or is to point to the image; may be empty. */
export interface GateNote extends GatedImage {
  tag: string;
  action: "pull" | "promote";
  /** Whether the request was rejected. One that was not, although the verdict holds the image, was only previewed. */
  isRejected: boolean;
  verdict: GateVerdict;
}

/** What became of it: rejected, only previewed, or passed although it is not known what the image holds. */
export type GateOutcome = "rejected" | "previewed" | "passed";

export function outcomeOf({ isRejected, verdict }: Pick<GateNote, "isRejected" | "verdict">): GateOutcome {
  if (isRejected) return "rejected";
  return verdict.holds ? "previewed" : "passed";
}

const DAY_MS = 24 * 3_600_000;
const MAX_REMOVED = 100;

/** A text that is the same as long as the findings are, and what is not known. */
export function findingsHash({ count, worst, unknown }: GateVerdict): string {
  const named = worst.map(({ vulnerability, severity, isExploited, purl, digest }) =>
    [vulnerability, severity, isExploited, purl, digest].join(" "),
  );
  // Why it is not known may be said in other words, such as by the next attempt to read it.
  const notKnown = unknown.map(({ digest, waits, state }) => `${digest} ${waits} ${state}`);
  return createHash("sha256")
    .update([count, ...named, ...notKnown].join("\n"))
    .digest("hex");
}

/**
 * Emits the event of what a gate made of a request: for an image and an action once in 24 hours, and when its findings
 * are other ones.
 */
export async function emitGateDecision(call: Call, { action, isRejected, verdict, ...of }: GateNote): Promise<void> {
  const { repo, digest, tag } = of;
  const mode = outcomeOf({ isRejected, verdict });
  const findings = findingsHash(verdict);
  const noted = await call.tx
    .insertInto("gate_events")
    .values({ repo, digest, action, mode, findings, time: call.nowMs })
    .onConflict((conflict) =>
      conflict
        .columns(["repo", "digest", "action"])
        .doUpdateSet({ mode, findings, time: call.nowMs })
        .where(
          sql<boolean>`(gate_events.time <= ${call.nowMs - DAY_MS} or gate_events.mode <> ${mode} or gate_events.findings <> ${findings})`,
        ),
    )
    .returning("repo")
    .executeTakeFirst();
  if (noted === undefined) return;
  const { nowMs, remoteAddress, userAgent } = call;
  call.emit(GateDecisionSchema, {
    type: `registry.gate.${mode}.v1`,
    subject: repo,
    group: parentOf(repo),
    body: {
      repository: await pathOf(call.tx, repo),
      repoId: repo,
      tag,
      digest,
      action,
      ...verdictBody(verdict),
      when: civilTime(nowMs),
      remoteAddress,
      userAgent,
    },
  });
}

/** Emits the event of a pull, which is answered without waiting for it, and forgets events of long ago. */
export const noteGatedPull = command(
  "registry.noteGatedPull",
  async (call: Call, note: GateNote): Promise<void> => {
    await emitGateDecision(call, note);
    const old = await call.tx
      .selectFrom("gate_events")
      .select(["repo", "digest", "action"])
      .where("time", "<=", call.nowMs - DAY_MS)
      .orderBy("time")
      .limit(MAX_REMOVED)
      .execute();
    for (const { repo, digest, action } of old)
      await call.tx
        .deleteFrom("gate_events")
        .where("repo", "=", repo)
        .where("digest", "=", digest)
        .where("action", "=", action)
        .where("time", "<=", call.nowMs - DAY_MS)
        .execute();
  },
  // It changes rows of one image alone, and only on condition; see docs/adr/0012 for what it appends.
  { isolation: "read committed" },
);
