// The services and functions of registry that other features use.
export { registryArea } from "./area.ts";
export { repoOfAlias } from "./aliases.ts";
export {
  type Attacher,
  attacherOf,
  checkAttachments,
  checkAttachmentsBy,
  checkDocuments,
  endAttachmentChecks,
  endSignatureChecks,
  NO_ATTACHER,
} from "./attachment-checks.ts";
export { imagePaths } from "./image-paths.ts";
export { type ImageConfig, imageConfigIn, MAX_CONFIG_BYTES, NO_CONFIG } from "./image-config.ts";
export { imageFor, imagesService } from "./images.ts";
export { imagesToJudge, type PromotedTag, type ToJudge } from "./gated-moves.ts";
export { promotedMoves, rolledBackMoves } from "./promotions.ts";
export { historyRetentionMs, policyOf } from "./policies.ts";
export { findingsHash, type GateNote, type GateOutcome, noteGatedPull, outcomeOf } from "./gate-events.ts";
export { type LocalMirror, localSourceOf } from "./local-source.ts";
export { repoOfReport } from "./repo-of-report.ts";
export { createRepoNamed, repos, reposService } from "./repos.ts";
export { expireRepoTags, expiringTags, planRetention } from "./retention.ts";
export { passwordPlace, syncPages, type SyncSettings, syncSettings } from "./syncs.ts";
export { runConfigOf } from "./run-config.ts";
export { createPullCounter, type PullCounter } from "./pulls/counter.ts";
export { endPullCoverage } from "./pulls/commands.ts";
export { statisticsRetention } from "./pulls/retention.ts";
export { coverageMessage, pullCoverage } from "./pulls/coverage.ts";
export { type Puller, pullersOf } from "./pulls/pullers.ts";
export { pullsService } from "./pulls/service.ts";
export { measureUsage } from "./usage/measure.ts";
export { usageService } from "./usage/service.ts";
export { searchService } from "./search/service.ts";
export { storageService } from "./storage/service.ts";
export { deleteTag, findTag, moveTag, requireMovable, requireUnprotected } from "./tag-moves.ts";
export { expireTags, registryCommands } from "./commands.ts";
export { isReservedTag, parseTimedTag, RESERVED_TAG, type TimedTag } from "./timed-tag.ts";
export { historyPages, tagPages } from "./tag-readings.ts";
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
} from "./vulnerability-gate.ts";
