// Written by `npm run generate` out of proto/: change it there.
import { method } from "../method.ts";

export interface ListJobsRequest {}
export interface ListJobsResponse {
  jobs: Job[];
}
export interface Job {
  name: string;
  holder: string;
  leaseUntilTime?: string;
  dueTime?: string;
}
export interface ListFeedsRequest {
  unmatched?: boolean;
}
export interface ListFeedsResponse {
  feeds: Feed[];
  canChange: boolean;
}
export interface Feed {
  name: string;
  format: string;
  licence: string;
  records: string;
  problems: string;
  successTime?: string;
  attemptTime?: string;
  error: string;
  address: string;
  interval?: string;
  dueTime?: string;
  isOverdue: boolean;
  withdrawn: string;
  coverage: FeedCoverage[];
  coverageKnown: boolean;
  unmatched: string;
  products: string[];
  fromFile: boolean;
  createTime?: string;
  requestTime?: string;
  deleteTime?: string;
  covers: string[];
  statements: string;
  statementsUnmatched: string;
  unmatchedStatements: FeedStatement[];
}
export interface FeedCoverage {
  space: string;
  records: string;
  isMatched: boolean;
  isCovered: boolean;
}
export interface FeedStatement {
  record: string;
  vulnerabilities: string[];
  status: string;
  product: string;
  reason: string;
}
export interface ListFeedProblemsRequest {
  feed?: string;
}
export interface ListFeedProblemsResponse {
  problems: FeedProblem[];
}
export interface FeedProblem {
  feed: string;
  kind: FeedProblemKind;
  record: string;
  position: string;
  message: string;
}
export type FeedProblemKind = "KIND_UNSPECIFIED" | "KIND_UNREADABLE" | "KIND_UNMATCHED";
export interface ListFeedPresetsRequest {}
export interface ListFeedPresetsResponse {
  presets: FeedPreset[];
}
export interface FeedPreset {
  name: string;
  title: string;
  format: string;
  address: string;
  licence: string;
  interval?: string;
  covers: string;
  ecosystems: string[];
  isAdded: boolean;
}
export interface CreateFeedRequest {
  feed?: FeedInput;
  preset?: string;
  acceptLicence?: boolean;
  validateOnly?: boolean;
}
export interface FeedInput {
  name?: string;
  format?: string;
  licence?: string;
  records?: string;
  problems?: string;
  successTime?: string;
  attemptTime?: string;
  error?: string;
  address?: string;
  interval?: string;
  dueTime?: string;
  isOverdue?: boolean;
  withdrawn?: string;
  coverage?: FeedCoverageInput[];
  coverageKnown?: boolean;
  unmatched?: string;
  products?: string[];
  fromFile?: boolean;
  createTime?: string;
  requestTime?: string;
  deleteTime?: string;
  covers?: string[];
  statements?: string;
  statementsUnmatched?: string;
  unmatchedStatements?: FeedStatementInput[];
}
export interface FeedCoverageInput {
  space?: string;
  records?: string;
  isMatched?: boolean;
  isCovered?: boolean;
}
export interface FeedStatementInput {
  record?: string;
  vulnerabilities?: string[];
  status?: string;
  product?: string;
  reason?: string;
}
export interface UpdateFeedRequest {
  feed?: FeedInput;
  updateMask?: string;
  acceptLicence?: boolean;
  validateOnly?: boolean;
}
export interface DeleteFeedRequest {
  name?: string;
  validateOnly?: boolean;
}
export interface RefreshFeedRequest {
  name?: string;
  validateOnly?: boolean;
}
export interface PreviewGarbageCollectionRequest {}
export interface GarbagePreview {
  tags: string;
  manifests: string;
  blobs: string;
  bytes: string;
  repos: GarbageOfRepo[];
  repoCount: string;
}
export interface GarbageOfRepo {
  name: string;
  tags: string;
  manifests: string;
  blobs: string;
  bytes: string;
}
export interface GetInstallationRequest {}
export interface Installation {
  version: string;
  engine: string;
  blobStore: string;
  startTime?: string;
  organizations: string;
  repos: string;
  tags: string;
}
export const listJobs = method<ListJobsRequest, ListJobsResponse>("GET", "/operations/v2/jobs", "");
export const listFeeds = method<ListFeedsRequest, ListFeedsResponse>("GET", "/operations/v2/feeds", "");
export const listFeedProblems = method<ListFeedProblemsRequest, ListFeedProblemsResponse>(
  "GET",
  "/operations/v2/feedProblems",
  "",
);
export const listFeedPresets = method<ListFeedPresetsRequest, ListFeedPresetsResponse>(
  "GET",
  "/operations/v2/feedPresets",
  "",
);
export const createFeed = method<CreateFeedRequest, Feed>("POST", "/operations/v2/feeds", "feed");
export const updateFeed = method<UpdateFeedRequest, Feed>("PATCH", "/operations/v2/feeds/{feed.name}", "feed");
export const deleteFeed = method<DeleteFeedRequest, Feed>("DELETE", "/operations/v2/feeds/{name}", "");
export const refreshFeed = method<RefreshFeedRequest, Feed>("POST", "/operations/v2/feeds/{name}:refresh", "*");
export const previewGarbageCollection = method<PreviewGarbageCollectionRequest, GarbagePreview>(
  "GET",
  "/operations/v2/garbage",
  "",
);
export const getInstallation = method<GetInstallationRequest, Installation>("GET", "/operations/v2/installation", "");
