import type { Call } from "@moorage/kernel/core/call";
import { failedPrecondition, type PreconditionViolation } from "@moorage/kernel/errors";
import { type Database, statement } from "@moorage/kernel/store";
import { emitGateDecision } from "./gate-events.ts";
import { policyOf } from "./policies.ts";
import type { TagPlace } from "./tag-moves.ts";
import {
  gatedTag,
  isRecorded,
  type GateRules,
  type GateVerdict,
  type JudgePromotion,
  type UnknownImage,
} from "./vulnerability-gate.ts";

/** A tag that the API is to make point to a digest. */
export interface PromotedTag {
  name: string;
  digest: string;
  place: TagPlace;
}

/** An image that passed although it is not known what it holds, and the tag that comes to point to it. */
interface PassedUnknown extends UnknownImage {
  tag: string;
}

/** What is not known of what passed: the images, and the feeds that are older than their own interval, each once. */
export interface Passed {
  unknown: PassedUnknown[];
  stale: GateVerdict["stale"];
}

/**
 * What the policies of signatures of the repo's groups say of making tags point to these images: a violation for each
 * that is blocked.
 */
type JudgeSignedMoves = (
  call: Call,
  repo: string,
  moves: readonly Pick<PromotedTag, "name" | "digest">[],
  action: "promote",
) => Promise<PreconditionViolation[]>;

/** Who judges promotions. */
export interface MoveJudges {
  findings: JudgePromotion;
  signatures: JudgeSignedMoves;
}

/** An image that a gate is to judge. */
export interface ToJudge {
  digest: string;
  rules: GateRules;
}

const selectPolicy = statement<{ policy: string | null }>("select tag_policy as policy from repos where uid = ?", [
  "text",
]);

/** Whether the repo's gate judges anything when tags come to point to it. */
export async function gatesPromotions(tx: Database, repo: string): Promise<boolean> {
  const [row] = await selectPolicy(tx, repo);
  return row !== undefined && policyOf(row.policy).gate?.onPromote === true;
}

/** Which images the repo's gate judges when tags come to point to them, each once. */
export function imagesToJudge(moves: readonly PromotedTag[]): ToJudge[] {
  const found = new Map<string, ToJudge>();
  for (const { digest, place } of moves) {
    const { gate } = policyOf(place.policy);
    if (gate?.onPromote === true && place.tag?.digest !== digest) found.set(digest, { digest, rules: gate });
  }
  return [...found.values()];
}

/**
 * Has the repo's gate and the policies of signatures judge the images that tags come to point to. Throws
 * FAILED_PRECONDITION (VULNERABILITY_GATE, SIGNATURE_POLICY) with each tag whose image is blocked; what is in preview
 * emits events instead. Answers what the gate does not know of what passes; of an image an event is emitted as well.
 */
export async function requirePromotable(
  call: Call,
  repo: string,
  moves: readonly PromotedTag[],
  { findings: judge, signatures }: MoveJudges,
): Promise<Passed> {
  const moved = moves.filter(({ digest, place }) => place.tag?.digest !== digest);
  const judges = moved.some(({ place }) => place.hasSignaturePolicies);
  const violations = judges ? await signatures(call, repo, moved, "promote") : [];
  const unknown: PassedUnknown[] = [];
  const stale = new Map<string, GateVerdict["stale"][number]>();
  const judged = new Map<string, GateVerdict | undefined>();
  for (const { name: tag, digest, place } of moves) {
    const { gate } = policyOf(place.policy);
    if (gate?.onPromote !== true || place.tag?.digest === digest) continue;
    if (!judged.has(digest)) judged.set(digest, await judge(call, { repo, digest }, gate, call.nowMs));
    const verdict = judged.get(digest);
    if (verdict === undefined) continue;
    if (gate.enforces && verdict.holds) {
      violations.push(gatedTag(tag, { digest }, verdict));
      continue;
    }
    if (isRecorded(verdict))
      await emitGateDecision(call, { repo, digest, tag, action: "promote", isRejected: false, verdict });
    unknown.push(...verdict.unknown.map((each) => ({ ...each, tag })));
    for (const each of verdict.stale) stale.set(each.feed, each);
  }
  if (violations.length > 0) throw failedPrecondition(...violations);
  return { unknown, stale: [...stale.values()] };
}
