// The services and functions of trust that other features use.
export { trustArea } from "./area.ts";
export { holdingHash, noteSignaturePull, type SignatureNote } from "./gate/events.ts";
export { holdsTags, lastPassing } from "./gate/tag-fallback.ts";
export { judgeSignedCopy, judgeSignedMoves } from "./gate/moves.ts";
export {
  createSignatureGate,
  isJudgedAlike,
  type JudgedState,
  type JudgeSignedPull,
  type SignatureVerdict,
} from "./gate/pull.ts";
export { documentSigners } from "./judging/document-signers.ts";
export { askedBy, documentPoliciesOf, judgeDocuments, layersSigned } from "./judging/judge-documents.ts";
export { enforced, isForNow } from "./judging/judge.ts";
export type { HoldingPolicy } from "./judging/types.ts";
export { describeHeld, describeInstead } from "./judging/words.ts";
export { documentPolicyChanges } from "./policies/changes.ts";
export { hurrySignatures } from "./queue/hurry.ts";
export { startSignatures } from "./verifying/runner.ts";
export { judgeTagSignatures } from "./signatures/tag-filter.ts";
