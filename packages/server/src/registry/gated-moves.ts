import type { Call } from "../core/call.ts";
import { failedPrecondition, type PreconditionViolation } from "../errors.ts";
import { emitGateDecision } from "./gate-events.ts";
import { policyOf } from "./policies.ts";
import type { TagPlace } from "./tag-moves.ts";
import { gatedTag, type GateVerdict, type JudgePromotion } from "./vulnerability-gate.ts";

/** A tag that the API is to make point to a digest. */
export interface PromotedTag {
  name: string;
  digest: string;
  place: TagPlace;
}

/**
 * Has the repo's gate judge the images that tags come to point to. Throws FAILED_PRECONDITION (VULNERABILITY_GATE) with
 * each tag whose image it does not let pass; a gate in preview emits events instead.
 */
export async function requirePromotable(
  call: Call,
  repo: string,
  moves: readonly PromotedTag[],
  judge: JudgePromotion,
): Promise<void> {
  const violations: PreconditionViolation[] = [];
  const judged = new Map<string, GateVerdict | undefined>();
  for (const { name: tag, digest, place } of moves) {
    const { gate } = policyOf(place.policy);
    if (gate?.onPromote !== true || place.tag?.digest === digest) continue;
    if (!judged.has(digest)) judged.set(digest, await judge(call.tx, { repo, digest }, gate, call.nowMs));
    const verdict = judged.get(digest);
    if (verdict === undefined) continue;
    if (gate.enforces) violations.push(gatedTag(tag, { digest }, verdict));
    else await emitGateDecision(call, { repo, digest, tag, action: "promote", isRejected: false, verdict });
  }
  if (violations.length > 0) throw failedPrecondition(...violations);
}
