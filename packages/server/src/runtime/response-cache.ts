import type { DescMethod, DescService } from "@bufbuild/protobuf";
import {
  AdvisoryExportsService,
  BlocksService,
  ArtifactsService,
  AttentionService,
  DiffsService,
  DownloadsService,
  EolTagsService,
  ExposuresService,
  FindingsService,
  OperationsService,
  PullsService,
  UsageService,
  ReplicationsService,
  ReposService,
  ScansService,
  SecurityAdvisoryService,
  SessionsService,
  SignaturesService,
  Transaction,
  transaction,
} from "@moorage/api/messages";
import { isV1 } from "@moorage/kernel/core/api-version";
import {
  createResponseCache,
  type ResponseCache,
  type ResponseCacheOptions,
} from "@moorage/kernel/core/response-cache";
import type { Database } from "@moorage/kernel/store";
import { optionOf } from "@moorage/kernel/lib/options";

/** An answer of a method, ready to be sent. `etag` is its entity tag, in protocols that have one. */
export interface Answered {
  text: string;
  etag?: string | undefined;
}

const EVENTS = "moorage.events.v2";
// Their answers depend on which images are read or scanned by now, on what is found in packages, on the time, and on
// the disk.
const OTHERS: ReadonlySet<DescService> = new Set<DescService>([
  AdvisoryExportsService,
  AttentionService,
  BlocksService,
  DiffsService,
  DownloadsService,
  EolTagsService,
  ExposuresService,
  FindingsService,
  PullsService,
  ReplicationsService,
  ScansService,
  SessionsService,
  SignaturesService,
  UsageService,
]);
const OTHER_METHODS: ReadonlySet<DescMethod> = new Set<DescMethod>([
  ArtifactsService.method.listArtifactImages,
  OperationsService.method.getInstallation,
  ReposService.method.previewTagRetention,
  SecurityAdvisoryService.method.listResolvedVulnsReports,
]);
const ENTRY_BYTES = 500;
// A page token holds the time at which it was made, so a cached page shortens its token's lifetime by up to a minute.
const MAX_AGE_MS = 60_000;

/** The response cache of the API's methods. */
export function createMethodCache(
  reader: Database,
  isStillGood: ResponseCacheOptions["isStillGood"],
): ResponseCache<Answered> {
  return createResponseCache(reader, { isStillGood, maxAgeMs: MAX_AGE_MS, entryBytes: ENTRY_BYTES });
}

/**
 * Whether answers of the method may be cached: it is not of v1, only reads, and none of the tables that change without
 * invalidating the cache (store/uncached-tables.ts), so equal calls get equal answers until something is written. Of
 * such tables only the events' services, those of `OTHERS` and OTHER_METHODS answer what may change.
 */
export function isCacheable(method: DescMethod): boolean {
  const { parent } = method;
  return (
    optionOf(method, transaction) === Transaction.READ &&
    !isV1(parent) &&
    parent.file.proto.package !== EVENTS &&
    !OTHERS.has(parent) &&
    !OTHER_METHODS.has(method)
  );
}
