import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  GateMode,
  GetSignatureDecisionRequestSchema,
  RepoSchema,
  SignatureAction,
  type SignaturePolicyDecisionSchema,
  type SignaturesService,
} from "@moorage/api/messages";
import { validate } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import type { Service } from "@moorage/kernel/core/service";
import { notFound } from "@moorage/kernel/errors";
import { repos } from "../../registry/index.ts";
import { holdsTags, lastPassing } from "../gate/tag-fallback.ts";
import { createSignatureGate } from "../gate/pull.ts";
import { readEvidence } from "../judging/evidence.ts";
import { policiesOf } from "../judging/in-force.ts";
import { enforced, holdingPolicies, isForNow, judge } from "../judging/judge.ts";
import type { PolicyJudgment } from "../judging/types.ts";
import { describeHeld } from "../judging/words.ts";
import { SIGNATURES } from "../signatures/service.ts";

/** What signatures of images are worth, and what policies say of that: docs/signatures.md. */
export function signaturesService(): Service<typeof SignaturesService> {
  const judgePull = createSignatureGate();
  const earlier = async (call: Call, of: { repo: string; tag: string; digest: string }): Promise<string> =>
    of.tag === "" ? "" : ((await lastPassing(call, judgePull, of)) ?? "");
  return {
    ...SIGNATURES,
    async getSignatureDecision(call, request) {
      validate(GetSignatureDecisionRequestSchema, request);
      const { repoUid: repo, digest, tag } = request;
      const { tx, nowMs } = call;
      if ((await repos.find(tx, repo)) === undefined) throw notFound(RepoSchema.typeName, repo);
      const inForce = await policiesOf(tx, repo, nowMs);
      const evidence = (await readEvidence(tx, { repo, digests: [digest] }, inForce, nowMs)).get(digest);
      if (evidence?.heldMs === undefined) throw notFound("moorage.registry.v2.Manifest", digest);
      const action = request.action === SignatureAction.UNSPECIFIED ? SignatureAction.PULL : request.action;
      const isPull = action === SignatureAction.PULL;
      const judgment = judge(inForce.policies, evidence, { action, nowMs, ...(tag !== "" && { tag }) });
      const held = enforced(holdingPolicies(judgment));
      return {
        held: held.length > 0,
        waiting: isForNow(held),
        message: held.length === 0 ? "" : describeHeld(digest, held),
        answeredInstead: isPull && holdsTags(held) ? await earlier(call, { repo, tag, digest }) : "",
        policies: judgment.policies.map(decisionOf),
      };
    },
  };
}

function decisionOf({
  policy,
  outcome,
  reason,
  rules,
}: PolicyJudgment): MessageInitShape<typeof SignaturePolicyDecisionSchema> {
  return {
    policy: policy.uid,
    name: policy.name,
    mode: policy.enforces ? GateMode.ENFORCE : GateMode.PREVIEW,
    outcome,
    reason,
    rules: rules.map(({ rule, found, subject, ...said }) => ({
      name: rule.name,
      outcome: said.outcome,
      found,
      threshold: rule.threshold,
      reason: said.reason,
      subject,
    })),
  };
}
