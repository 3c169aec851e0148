export { ociArea } from "./area.ts";
export {
  type Attempt,
  attemptAction,
  type AttemptDeps,
  type AttemptedAction,
  basicNeeds,
  furtherNeeds,
  isFreeToPull,
} from "./attempts.ts";
export { isRepositoryName } from "./digests.ts";
export { evictionMetrics } from "./gc/eviction-metrics.ts";
export { startEvictions } from "./gc/evictions.ts";
export { collectGarbage } from "./gc/collect.ts";

export type { Collected } from "./gc/collection.ts";

export type {
  CenterAnswer,
  CenterQuestion,
  Centers,
  FetchedSignatures,
  StandInAnswer,
  StandInRequest,
  StandIns,
  Upstream,
} from "./other-registries.ts";
export type { RegistryDeps } from "./request.ts";
export { algorithmOf, isDigest, isTag } from "./digests.ts";
export { type AdoptableBlob, adoptBlobs } from "./blobs/adopt.ts";
export { keepBlob, recordBlob } from "./blobs/commands.ts";
export { copyOf, isIntact, notingBlobs, settleCopy } from "./blobs/copies.ts";
export { correctBlobSize, correctManifestSize, forgetBlob, forgetManifest } from "./repairs.ts";
export { touchContents } from "./gc/grace-commands.ts";
export { emitCollection, emitCopy } from "./events.ts";
export { imageConfigOf } from "./formats/image-config.ts";
export { removeStoredManifest, storeManifest } from "./manifests/commands.ts";
export { allowsSparse, missingReferences } from "./manifests/references.ts";
export { parseManifest, type Reference, type StoredManifest } from "./formats/manifest.ts";
export { pullMetrics } from "./records/metrics.ts";
export { createGateRecorder } from "./records/gate-recorder.ts";
export { createSignatureRecorder } from "./records/signature-recorder.ts";
export { createPullRecorder } from "./records/recorder.ts";
export { startPullPublisher } from "./records/publisher.ts";
export { createPullCache } from "./pulls/cache.ts";
export { makeStandInRepo } from "./stand-in-repo.ts";
export { HIT, hit, MISS, stale } from "./pulls/cache-status.ts";
export { registryHandler } from "./router.ts";
export { tokenEndpoint } from "./token/endpoint.ts";
export { announcedLength, bodyOf, responseSink, wholeBodyOf } from "./body.ts";
export { parseRange } from "./blobs/ranges.ts";
export { internalPath } from "./blobs/internal-path.ts";
export { redirectUrl } from "./blobs/redirect.ts";
export { callerOf, headerCredential } from "./credentials.ts";
