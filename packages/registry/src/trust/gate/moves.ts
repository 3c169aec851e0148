import { SignatureAction } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import type { PreconditionViolation } from "@moorage/kernel/errors";
import { statement } from "@moorage/kernel/store";
import { readEvidence } from "../judging/evidence.ts";
import { policiesOf } from "../judging/in-force.ts";
import { enforced, holdingPolicies, judge } from "../judging/judge.ts";
import { describeHeld } from "../judging/words.ts";
import { emitSignatureGate } from "./events.ts";

/** A tag that is to point to a digest. */
export interface SignedMove {
  name: string;
  digest: string;
}

const ACTIONS = { promote: SignatureAction.PROMOTE, copy: SignatureAction.COPY } as const;

/**
 * Has the policies of the repo's groups judge the images that tags are to point to. Answers a violation for each that
 * an enforcing policy blocks; one in preview emits an event.
 */
export async function judgeSignedMoves(
  call: Call,
  repo: string,
  moves: readonly SignedMove[],
  action: keyof typeof ACTIONS,
): Promise<PreconditionViolation[]> {
  const { tx, nowMs } = call;
  if (moves.length === 0) return [];
  const inForce = await policiesOf(tx, repo, nowMs);
  const are = inForce.policies.some(({ actions, problem }) => actions.has(ACTIONS[action]) || problem !== undefined);
  if (!are) return [];
  const digests = [...new Set(moves.map(({ digest }) => digest))];
  const evidence = await readEvidence(tx, { repo, digests }, inForce, nowMs);
  const violations: PreconditionViolation[] = [];
  for (const { name: tag, digest } of moves) {
    const known = evidence.get(digest);
    if (known === undefined) throw new Error(`nothing was read of ${digest}`);
    const holding = holdingPolicies(judge(inForce.policies, known, { action: ACTIONS[action], tag, nowMs }));
    const held = enforced(holding);
    if (held.length > 0)
      violations.push({
        type: "SIGNATURE_POLICY",
        subject: tag,
        description: `tag ${tag}: ${describeHeld(digest, held)}`,
      });
    else if (holding.length > 0)
      await emitSignatureGate(call, { repo, digest, tag, action, isRejected: false, holding });
  }
  return violations;
}

/** The same of a copy of an image, for which it is not known yet whether the installation has ever had a policy. */
export async function judgeSignedCopy(call: Call, repo: string, copy: SignedMove): Promise<PreconditionViolation[]> {
  return (await hasPolicies(call)) ? await judgeSignedMoves(call, repo, [copy], "copy") : [];
}

const selectAnyPolicy = statement("select 1 from signature_policy_changes where parent = ''");

/** Whether the installation has ever had a policy: most have none, which is known by one row. */
async function hasPolicies({ tx }: Call): Promise<boolean> {
  return (await selectAnyPolicy(tx)).length > 0;
}
