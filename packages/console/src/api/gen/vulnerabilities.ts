// Written by `npm run generate` out of proto/: change it there.
import { method } from "../method.ts";

export interface GetAdvisoryRequest {
  uid?: string;
}
export interface Advisory {
  uid: string;
  advisoryId: string;
  createTime?: string;
  updateTime?: string;
  deleteTime?: string;
  author: string;
  artifactName: string;
  artifactType: string;
  artifactArchitecture: string;
  componentName: string;
  componentLocation: string;
  componentType: string;
  aliases: string[];
  events: AdvisoryEvent[];
  legacyAdvisoryId: string;
  severities: Severity[];
  origin: string;
}
export interface AdvisoryEvent {
  uid: string;
  createTime?: string;
  findings: string;
  author: string;
  reviewer: string;
  reviewState: ReviewState;
  issue: string;
  detection?: AdvisoryEventDetection;
  fixed?: AdvisoryEventFixed;
  falsePositiveDetermination?: AdvisoryEventFalsePositiveDetermination;
  analysisNotPlanned?: AdvisoryEventAnalysisNotPlanned;
  fixNotPlanned?: AdvisoryEventFixNotPlanned;
  pendingUpstreamFix?: AdvisoryEventPendingUpstreamFix;
  truePositiveDetermination?: AdvisoryEventTruePositiveDetermination;
  patched?: AdvisoryEventPatched;
  reviewTime?: string;
}
export type ReviewState =
  | "REVIEW_STATE_UNSPECIFIED"
  | "REVIEW_STATE_PENDING"
  | "REVIEW_STATE_APPROVED"
  | "REVIEW_STATE_REQUEST_CHANGES"
  | "REVIEW_STATE_REJECTED";
export interface AdvisoryEventDetection {
  nvdapi?: AdvisoryEventDetectionNVDAPI;
  manual?: AdvisoryEventDetectionManual;
  scanv1?: AdvisoryEventDetectionScanV1;
}
export interface AdvisoryEventDetectionNVDAPI {
  cpeSearched: string;
  cpeFound: string;
}
export interface AdvisoryEventDetectionManual {}
export interface AdvisoryEventDetectionScanV1 {
  scanner: string;
  subpackage: string;
  componentId: string;
  component: string;
  componentVersion: string;
  componentType: string;
  componentLocation: string;
  artifactVersion: string;
  scannerVersion: string;
  grypeDbBuilt: string;
  grypeDbChecksum: string;
}
export interface AdvisoryEventFixed {
  fixedVersion: string;
  note: string;
  scannerVersion: string;
  grypeDbBuilt: string;
  grypeDbChecksum: string;
}
export interface AdvisoryEventFalsePositiveDetermination {
  type: AdvisoryEventFalsePositiveDeterminationType;
  note: string;
}
export type AdvisoryEventFalsePositiveDeterminationType =
  | "TYPE_UNSPECIFIED"
  | "TYPE_VULNERABILITY_RECORD_ANALYSIS_CONTESTED"
  | "TYPE_COMPONENT_VULNERABILITY_MISMATCH"
  | "TYPE_VULNERABLE_CODE_VERSION_NOT_USED"
  | "TYPE_VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE"
  | "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH"
  | "TYPE_VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY"
  | "TYPE_INLINE_MITIGATIONS_EXIST";
export interface AdvisoryEventAnalysisNotPlanned {
  note: string;
}
export interface AdvisoryEventFixNotPlanned {
  note: string;
}
export interface AdvisoryEventPendingUpstreamFix {
  note: string;
}
export interface AdvisoryEventTruePositiveDetermination {
  note: string;
}
export interface AdvisoryEventPatched {
  patchedVersions: string[];
  note: string;
}
export interface Severity {
  type: SeverityType;
  score: string;
}
export type SeverityType = "TYPE_UNSPECIFIED" | "TYPE_CVSS_V2" | "TYPE_CVSS_V3" | "TYPE_CVSS_V4";
export interface ListAdvisoriesRequest {
  uidp?: UIDPFilterInput;
  advisoryIds?: string[];
  legacyAdvisoryIds?: string[];
  artifactNames?: string[];
  artifactTypes?: string[];
  artifactArchitectures?: string[];
  componentNames?: string[];
  componentTypes?: string[];
  componentLocations?: string[];
  aliases?: string[];
  origin?: string;
  eventReviewStates?: ReviewState[];
  eventAuthors?: string[];
  excludeEventAuthors?: string[];
  eventReviewers?: string[];
  eventTypes?: EventTypeFilter[];
  latestEventType?: EventTypeFilter;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
  query?: string;
}
export interface UIDPFilterInput {
  ancestorsOf?: string;
  descendantsOf?: string;
  childrenOf?: string;
  inRoot?: boolean;
  ids?: string[];
}
export type EventTypeFilter =
  | "EVENT_TYPE_FILTER_UNSPECIFIED"
  | "EVENT_TYPE_FILTER_DETECTION"
  | "EVENT_TYPE_FILTER_TRUE_POSITIVE_DETERMINATION"
  | "EVENT_TYPE_FILTER_FIXED"
  | "EVENT_TYPE_FILTER_FALSE_POSITIVE_DETERMINATION"
  | "EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED"
  | "EVENT_TYPE_FILTER_FIX_NOT_PLANNED"
  | "EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX"
  | "EVENT_TYPE_FILTER_PATCHED";
export interface ListAdvisoriesResponse {
  advisories: Advisory[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateAdvisoryRequest {
  parent?: string;
  advisory?: AdvisoryInput;
  validateOnly?: boolean;
}
export interface AdvisoryInput {
  uid?: string;
  advisoryId?: string;
  createTime?: string;
  updateTime?: string;
  deleteTime?: string;
  author?: string;
  artifactName?: string;
  artifactType?: string;
  artifactArchitecture?: string;
  componentName?: string;
  componentLocation?: string;
  componentType?: string;
  aliases?: string[];
  events?: AdvisoryEventInput[];
  legacyAdvisoryId?: string;
  severities?: SeverityInput[];
  origin?: string;
}
export interface AdvisoryEventInput {
  uid?: string;
  createTime?: string;
  findings?: string;
  author?: string;
  reviewer?: string;
  reviewState?: ReviewState;
  issue?: string;
  detection?: AdvisoryEventDetectionInput;
  fixed?: AdvisoryEventFixedInput;
  falsePositiveDetermination?: AdvisoryEventFalsePositiveDeterminationInput;
  analysisNotPlanned?: AdvisoryEventAnalysisNotPlannedInput;
  fixNotPlanned?: AdvisoryEventFixNotPlannedInput;
  pendingUpstreamFix?: AdvisoryEventPendingUpstreamFixInput;
  truePositiveDetermination?: AdvisoryEventTruePositiveDeterminationInput;
  patched?: AdvisoryEventPatchedInput;
  reviewTime?: string;
}
export interface AdvisoryEventDetectionInput {
  nvdapi?: AdvisoryEventDetectionNVDAPIInput;
  manual?: AdvisoryEventDetectionManualInput;
  scanv1?: AdvisoryEventDetectionScanV1Input;
}
export interface AdvisoryEventDetectionNVDAPIInput {
  cpeSearched?: string;
  cpeFound?: string;
}
export interface AdvisoryEventDetectionManualInput {}
export interface AdvisoryEventDetectionScanV1Input {
  scanner?: string;
  subpackage?: string;
  componentId?: string;
  component?: string;
  componentVersion?: string;
  componentType?: string;
  componentLocation?: string;
  artifactVersion?: string;
  scannerVersion?: string;
  grypeDbBuilt?: string;
  grypeDbChecksum?: string;
}
export interface AdvisoryEventFixedInput {
  fixedVersion?: string;
  note?: string;
  scannerVersion?: string;
  grypeDbBuilt?: string;
  grypeDbChecksum?: string;
}
export interface AdvisoryEventFalsePositiveDeterminationInput {
  type?: AdvisoryEventFalsePositiveDeterminationType;
  note?: string;
}
export interface AdvisoryEventAnalysisNotPlannedInput {
  note?: string;
}
export interface AdvisoryEventFixNotPlannedInput {
  note?: string;
}
export interface AdvisoryEventPendingUpstreamFixInput {
  note?: string;
}
export interface AdvisoryEventTruePositiveDeterminationInput {
  note?: string;
}
export interface AdvisoryEventPatchedInput {
  patchedVersions?: string[];
  note?: string;
}
export interface SeverityInput {
  type?: SeverityType;
  score?: string;
}
export interface UpdateAdvisoryRequest {
  advisory?: AdvisoryInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteAdvisoryRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface CreateAdvisoryEventRequest {
  parent?: string;
  advisoryEvent?: AdvisoryEventInput;
  validateOnly?: boolean;
}
export interface ListAdvisoryEventsRequest {
  parent?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
  uidp?: UIDPFilterInput;
}
export interface ListAdvisoryEventsResponse {
  advisoryEvents: AdvisoryEvent[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface UpdateAdvisoryEventRequest {
  advisoryEvent?: AdvisoryEventInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface GetVexDocumentRequest {
  group?: string;
  format?: VexFormat;
}
export type VexFormat = "VEX_FORMAT_UNSPECIFIED" | "VEX_FORMAT_OPENVEX" | "VEX_FORMAT_CSAF";
export interface VexDocument {
  format: VexFormat;
  document?: Record<string, unknown>;
}
export interface GetOsvRecordsRequest {
  group?: string;
}
export interface OsvRecords {
  osvRecords: Record<string, unknown>[];
}
export interface GetImageVexDocumentRequest {
  repoUid?: string;
  reference?: string;
}
export interface ListExposuresRequest {
  uidp?: UIDPFilterInput;
  vulnerability?: string;
  since?: string;
  pageSize?: number;
  pageToken?: string;
}
export interface ListExposuresResponse {
  exposures: Exposure[];
  nextPageToken: string;
  coverage?: PullCoverage;
  unknownSummary?: UnknownSummary;
  state: KnowledgeState;
}
export interface Exposure {
  identity: string;
  repoUid: string;
  image: string;
  digest: string;
  firstPullTime?: string;
  lastPullTime?: string;
  pulls: string;
  openTime?: string;
  package: string;
  version: string;
  fix: string;
}
export interface PullCoverage {
  since?: string;
  lossyDays: string[];
  lossyDayCount: number;
}
export interface UnknownSummary {
  notRead: number;
  noData: number;
  atLeast: boolean;
  uncovered: UncoveredImages[];
}
export interface UncoveredImages {
  ecosystem: string;
  images: number;
  preset: string;
}
export type KnowledgeState =
  "KNOWLEDGE_STATE_UNSPECIFIED" | "KNOWLEDGE_STATE_NOT_READ" | "KNOWLEDGE_STATE_NO_DATA" | "KNOWLEDGE_STATE_READ";
export interface ListFindingsRequest {
  uidp?: UIDPFilterInput;
  repo?: string;
  tag?: string;
  digest?: string;
  vulnerabilities?: string[];
  packages?: string[];
  minSeverity?: FindingSeverity;
  kev?: boolean;
  fixable?: boolean;
  state?: FindingState;
  asOf?: string;
  pageSize?: number;
  pageToken?: string;
}
export type FindingSeverity =
  | "FINDING_SEVERITY_UNSPECIFIED"
  | "FINDING_SEVERITY_UNKNOWN"
  | "FINDING_SEVERITY_NONE"
  | "FINDING_SEVERITY_NEGLIGIBLE"
  | "FINDING_SEVERITY_LOW"
  | "FINDING_SEVERITY_MEDIUM"
  | "FINDING_SEVERITY_HIGH"
  | "FINDING_SEVERITY_CRITICAL";
export type FindingState = "FINDING_STATE_UNSPECIFIED" | "FINDING_STATE_OPEN" | "FINDING_STATE_CLOSED";
export interface ListFindingsResponse {
  findings: Finding[];
  nextPageToken: string;
  unknownImages: UnknownFindings[];
  state: KnowledgeState;
  staleFeeds: StaleFeed[];
  platforms: string[];
  unknownSummary?: UnknownSummary;
  notCompared: number;
}
export interface Finding {
  vulnerability: string;
  aliases: string[];
  repo: string;
  digest: string;
  tags: string[];
  package?: FindingPackage;
  locations: FindingLocation[];
  severity: FindingSeverity;
  score?: number;
  kev: boolean;
  epss?: number;
  epssPercentile?: number;
  fixState: FixState;
  fixVersions: string[];
  records: FindingRecord[];
  state: FindingState;
  openTime?: string;
  closeTime?: string;
  closeReason: string;
  statement?: FindingStatement;
  decision?: FindingDecision;
  claims: FindingClaim[];
  sources: string[];
  contradictions: FindingContradiction[];
  remediations: FindingRemediation[];
  tagsTotal: number;
  platform: string;
}
export interface FindingPackage {
  purl: string;
  name: string;
  version: string;
  sourceName: string;
  sourceVersion: string;
}
export interface FindingLocation {
  layer: string;
  path: string;
}
export type FixState = "FIX_STATE_UNSPECIFIED" | "FIX_STATE_FIXED" | "FIX_STATE_NOT_FIXED" | "FIX_STATE_WONT_FIX";
export interface FindingRecord {
  feed: string;
  id: string;
  licence: string;
  fixVersions: string[];
  lastAffectedVersions: string[];
  openTime?: string;
}
export interface FindingStatement {
  justification: string;
  impact: string;
  document: string;
  author: string;
  source: string;
  time?: string;
  feed: string;
}
export interface FindingDecision {
  advisory: string;
  advisoryId: string;
  type: EventTypeFilter;
  justification: string;
  versions: string[];
  note: string;
  time?: string;
}
export interface FindingClaim {
  status: string;
  justification: string;
  impact: string;
  document: string;
  author: string;
  source: string;
  time?: string;
}
export interface FindingContradiction {
  source: string;
  versions: string[];
}
export interface FindingRemediation {
  category: string;
  details: string;
  url: string;
  document: string;
  source: string;
  feed: string;
}
export interface UnknownFindings {
  digest: string;
  platform: string;
  reason: string;
  waits: boolean;
  state: KnowledgeState;
  uncovered: UncoveredPackages[];
  unreadFiles: number;
}
export interface UncoveredPackages {
  ecosystem: string;
  packages: number;
  preset: string;
  feeds: string[];
}
export interface StaleFeed {
  feed: string;
  successTime?: string;
  interval?: string;
}
export interface ListUnknownImagesRequest {
  uidp?: UIDPFilterInput;
  repo?: string;
  state?: KnowledgeState;
  pageSize?: number;
  pageToken?: string;
}
export interface ListUnknownImagesResponse {
  unknownImages: UnknownImageOfRepo[];
  nextPageToken: string;
}
export interface UnknownImageOfRepo {
  repo: string;
  digest: string;
  tags: string[];
  platform: string;
  state: KnowledgeState;
  reason: string;
  waits: boolean;
}
export interface GetCoverageRequest {
  repoUid?: string;
  digest?: string;
}
export interface Coverage {
  state: KnowledgeState;
  images: ImageCoverage[];
  staleFeeds: StaleFeed[];
}
export interface ImageCoverage {
  digest: string;
  platform: string;
  state: KnowledgeState;
  reason: string;
  waits: boolean;
  packages: number;
  uncovered: UncoveredPackages[];
  unreadFiles: number;
  files: UnreadFile[];
  notCompared: number;
  packagesNotCompared: UncomparedPackage[];
  covered: CoveredPackages[];
}
export interface UnreadFile {
  path: string;
  layer: string;
  reason: string;
}
export interface UncomparedPackage {
  purl: string;
  version: string;
}
export interface CoveredPackages {
  ecosystem: string;
  packages: number;
  feeds: CoveringFeed[];
}
export interface CoveringFeed {
  feed: string;
  records?: string;
  successTime?: string;
}
export interface GetScannerRequest {
  uid?: string;
}
export interface Scanner {
  uid: string;
  name: string;
  description: string;
  url: string;
  authorization?: string;
  disabled: boolean;
  onRequestOnly: boolean;
  adapter?: ScannerAdapter;
  checkTime?: string;
  identity: string;
  createTime?: string;
  updateTime?: string;
}
export interface ScannerAdapter {
  name: string;
  vendor: string;
  version: string;
  capabilities: ScannerCapability[];
}
export interface ScannerCapability {
  type: ScanType;
  consumesMimeTypes: string[];
  producesMimeTypes: string[];
  sbomMediaTypes: string[];
}
export type ScanType = "SCAN_TYPE_UNSPECIFIED" | "SCAN_TYPE_VULNERABILITY" | "SCAN_TYPE_SBOM";
export interface ListScannersRequest {
  uidp?: UIDPFilterInput;
  name?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListScannersResponse {
  scanners: Scanner[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface CreateScannerRequest {
  parent?: string;
  scanner?: ScannerInput;
  validateOnly?: boolean;
}
export interface ScannerInput {
  uid?: string;
  name?: string;
  description?: string;
  url?: string;
  authorization?: string;
  disabled?: boolean;
  onRequestOnly?: boolean;
  adapter?: ScannerAdapterInput;
  checkTime?: string;
  identity?: string;
  createTime?: string;
  updateTime?: string;
}
export interface ScannerAdapterInput {
  name?: string;
  vendor?: string;
  version?: string;
  capabilities?: ScannerCapabilityInput[];
}
export interface ScannerCapabilityInput {
  type?: ScanType;
  consumesMimeTypes?: string[];
  producesMimeTypes?: string[];
  sbomMediaTypes?: string[];
}
export interface UpdateScannerRequest {
  scanner?: ScannerInput;
  updateMask?: string;
  validateOnly?: boolean;
}
export interface DeleteScannerRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface CheckScannerRequest {
  uid?: string;
  validateOnly?: boolean;
}
export interface GetScanRequest {
  uid?: string;
}
export interface Scan {
  uid: string;
  scanner: string;
  scannerName: string;
  digest: string;
  type: ScanType;
  state: ScanState;
  reason: string;
  attempts: number;
  software?: ScanSoftware;
  counts?: ScanCounts;
  reportMimeType: string;
  reportSize: number;
  packages: number;
  requestTime?: string;
  startTime?: string;
  reportTime?: string;
}
export type ScanState =
  "SCAN_STATE_UNSPECIFIED" | "SCAN_STATE_WAITING" | "SCAN_STATE_RUNNING" | "SCAN_STATE_DONE" | "SCAN_STATE_FAILED";
export interface ScanSoftware {
  name: string;
  vendor: string;
  version: string;
}
export interface ScanCounts {
  critical: number;
  high: number;
  medium: number;
  low: number;
  negligible: number;
  unknown: number;
  fixable: number;
}
export interface ListScansRequest {
  uidp?: UIDPFilterInput;
  digest?: string;
  scanner?: string;
  type?: ScanType;
  state?: ScanState;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
}
export interface ListScansResponse {
  scans: Scan[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface ScanImageRequest {
  repoUid?: string;
  digest?: string;
  scanner?: string;
  type?: ScanType;
  validateOnly?: boolean;
}
export interface ScanImageResponse {
  scans: Scan[];
}
export interface GetScanReportRequest {
  uid?: string;
}
export interface ScanReport {
  content: string;
  mimeType: string;
  scanner: string;
  reportTime?: string;
}
export interface ListScanVulnerabilitiesRequest {
  uid?: string;
  minSeverity?: FindingSeverity;
  pageSize?: number;
  pageToken?: string;
}
export interface ListScanVulnerabilitiesResponse {
  vulnerabilities: ScannedVulnerability[];
  nextPageToken: string;
  totalCount: number;
}
export interface ScannedVulnerability {
  id: string;
  package: string;
  version: string;
  fixVersion: string;
  severity: FindingSeverity;
  description: string;
  links: string[];
  score?: number;
}
export const getAdvisory = method<GetAdvisoryRequest, Advisory>("GET", "/vulnerabilities/v2/advisories/{uid=**}", "");
export const listAdvisories = method<ListAdvisoriesRequest, ListAdvisoriesResponse>(
  "GET",
  "/vulnerabilities/v2/advisories",
  "",
);
export const createAdvisory = method<CreateAdvisoryRequest, Advisory>(
  "POST",
  "/vulnerabilities/v2/advisories/{parent=**}",
  "advisory",
);
export const updateAdvisory = method<UpdateAdvisoryRequest, Advisory>(
  "PATCH",
  "/vulnerabilities/v2/advisories/{advisory.uid=**}",
  "advisory",
);
export const deleteAdvisory = method<DeleteAdvisoryRequest, Record<string, never>>(
  "DELETE",
  "/vulnerabilities/v2/advisories/{uid=**}",
  "",
);
export const createAdvisoryEvent = method<CreateAdvisoryEventRequest, AdvisoryEvent>(
  "POST",
  "/vulnerabilities/v2/advisories/{parent=**}/events",
  "advisoryEvent",
);
export const listAdvisoryEvents = method<ListAdvisoryEventsRequest, ListAdvisoryEventsResponse>(
  "GET",
  "/vulnerabilities/v2/advisories/{parent=**}/events",
  "",
);
export const updateAdvisoryEvent = method<UpdateAdvisoryEventRequest, AdvisoryEvent>(
  "PATCH",
  "/vulnerabilities/v2/advisoryEvents/{advisoryEvent.uid=**}",
  "advisoryEvent",
);
export const getVexDocument = method<GetVexDocumentRequest, VexDocument>(
  "GET",
  "/vulnerabilities/v2/groups/{group=**}/vex",
  "",
);
export const getOsvRecords = method<GetOsvRecordsRequest, OsvRecords>(
  "GET",
  "/vulnerabilities/v2/groups/{group=**}/osv",
  "",
);
export const getImageVexDocument = method<GetImageVexDocumentRequest, VexDocument>(
  "GET",
  "/vulnerabilities/v2/repos/{repoUid=**}/vex",
  "",
);
export const listExposures = method<ListExposuresRequest, ListExposuresResponse>(
  "GET",
  "/vulnerabilities/v2/exposures",
  "",
);
export const listFindings = method<ListFindingsRequest, ListFindingsResponse>(
  "GET",
  "/vulnerabilities/v2/findings",
  "",
);
export const listUnknownImages = method<ListUnknownImagesRequest, ListUnknownImagesResponse>(
  "GET",
  "/vulnerabilities/v2/unknownImages",
  "",
);
export const getCoverage = method<GetCoverageRequest, Coverage>(
  "GET",
  "/vulnerabilities/v2/repos/{repoUid=**}/digests/{digest}/coverage",
  "",
);
export const getScanner = method<GetScannerRequest, Scanner>("GET", "/vulnerabilities/v2/scanners/{uid=**}", "");
export const listScanners = method<ListScannersRequest, ListScannersResponse>(
  "GET",
  "/vulnerabilities/v2/scanners",
  "",
);
export const createScanner = method<CreateScannerRequest, Scanner>(
  "POST",
  "/vulnerabilities/v2/scanners/{parent=**}",
  "scanner",
);
export const updateScanner = method<UpdateScannerRequest, Scanner>(
  "PATCH",
  "/vulnerabilities/v2/scanners/{scanner.uid=**}",
  "scanner",
);
export const deleteScanner = method<DeleteScannerRequest, Record<string, never>>(
  "DELETE",
  "/vulnerabilities/v2/scanners/{uid=**}",
  "",
);
export const checkScanner = method<CheckScannerRequest, Scanner>(
  "POST",
  "/vulnerabilities/v2/scanners/{uid=**}:check",
  "*",
);
export const getScan = method<GetScanRequest, Scan>("GET", "/vulnerabilities/v2/scans/{uid=**}", "");
export const listScans = method<ListScansRequest, ListScansResponse>("GET", "/vulnerabilities/v2/scans", "");
export const scanImage = method<ScanImageRequest, ScanImageResponse>(
  "POST",
  "/vulnerabilities/v2/repos/{repoUid=**}:scan",
  "*",
);
export const getScanReport = method<GetScanReportRequest, ScanReport>(
  "GET",
  "/vulnerabilities/v2/scans/{uid=**}/report",
  "",
);
export const listScanVulnerabilities = method<ListScanVulnerabilitiesRequest, ListScanVulnerabilitiesResponse>(
  "GET",
  "/vulnerabilities/v2/scans/{uid=**}/vulnerabilities",
  "",
);
