// The services and functions of registry that other features use.
export { registryArea } from "./area.ts";
export { repoOfAlias } from "./aliases.ts";
export {
  type Attacher,
  attacherOf,
  checkAttachments,
  checkAttachmentsBy,
  checkDocuments,
  checkDocumentsBy,
  checkSignatures,
  endAttachmentChecks,
  endSignatureChecks,
  hasSignatures,
  hurrySignatureChecks,
  NO_ATTACHER,
} from "./attachment-checks.ts";
export { DELETIONS_MS, isTooMany } from "./deletion-limit.ts";
export { imagePaths } from "./image-paths.ts";
export { type ImageConfig, imageConfigIn, MAX_CONFIG_BYTES, NO_CONFIG } from "./image-config.ts";
export { parseImageSource } from "./image-source.ts";
export { imageFor } from "./images.ts";
export { gatesPromotions, imagesToJudge, type PromotedTag, type ToJudge } from "./gated-moves.ts";
export { importedEnds } from "./import-moves.ts";
export { promotedMoves, rolledBackMoves } from "./promotions.ts";
export { historyRetentionMs, MAX_TAG_STEPS, policyOf, policyViolations } from "./policies.ts";
export { requireTagPolicyRight } from "./policy-rights.ts";
export { findingsHash, type GateNote, type GateOutcome, noteGatedPull, outcomeOf } from "./gate-events.ts";
export { type LocalMirror, localSourceOf } from "./local-source.ts";
export { repoOfReport } from "./repo-of-report.ts";
export {
  cacheUse,
  type CacheUse,
  cacheUses,
  fullCaches,
  setCacheLimit,
  settleCacheSpace,
  wantCacheSpace,
} from "./quotas/cache-limit.ts";
export { noteQuotaRejection } from "./quotas/commands.ts";
export { addContent, countOfQuotasAbove, quotasAbove, removeContent, removeRepoContent } from "./quotas/content.ts";
export { requireCount } from "./quotas/counts.ts";
export { QUOTA_CHECKS } from "./quotas/checks.ts";
export { quotaOfError, quotaWords } from "./quotas/errors.ts";
export { lackOfSpace, spaceLeft, type SpaceLeft } from "./quotas/space.ts";
export { quotaFigures } from "./quotas/figures.ts";
export { quotaMetrics } from "./quotas/metrics.ts";
export { startQuotas } from "./quotas/worker.ts";
export { createRepoNamed, replacePolicies, repos } from "./repos.ts";
export { expireRepoTags, expiringTags, planRetention } from "./retention.ts";
export { isPrivate, passwordPlace, syncPages, type SyncSettings, syncSettings } from "./syncs.ts";
export { groupPath } from "./quotas/group-path.ts";
export { isFromUpstream, standInAbove } from "./stand-ins.ts";
export { runConfigOf } from "./run-config.ts";
export { lastUses, RUNNING_FOR_MS } from "./pulls/last-uses.ts";
export { createPullCounter, type PullCounter } from "./pulls/counter.ts";
export { endPullCoverage } from "./pulls/commands.ts";
export { coversSince, pullCoverage } from "./pulls/coverage.ts";
export { pulledImages } from "./pulls/pulled-images.ts";
export { type Puller, pullersOf } from "./pulls/pullers.ts";
export { requireEventsOf } from "./pulls/require-events.ts";
export { requireReporter } from "./usage/report.ts";
export { addPastMoves, addRoundTrip, lastMoveMs, type PastMove } from "./past-moves.ts";
export { tagKey } from "./tag-key.ts";
export { deleteTag, findTag, moveTag, requireMovable, requireUnprotected, type TagPlace } from "./tag-moves.ts";
export { evictTags, expireTags } from "./commands.ts";
export { isReservedTag, parseTimedTag, RESERVED_TAG, type TimedTag } from "./timed-tag.ts";
export { historyPages, tagPages } from "./tag-readings.ts";
export type { FactsOfTags, TagImage } from "./tag-filters.ts";
export { keyOfCreateTag, tags, tagsService } from "./tags.ts";
export {
  describePassed,
  describeVerdict,
  type Gate,
  type GatedImage,
  type GateFinding,
  type GateRules,
  type GateVerdict,
  isForNow,
  isRecorded,
  isSevere,
  type JudgePromotion,
  type JudgePull,
  MAX_NAMED,
  type UnknownImage,
  verdictBody,
  withOnUnknown,
} from "./vulnerability-gate.ts";
