// Written by `npm run generate` out of proto/: change it there.
import { method } from "../method.ts";

export interface ListDocumentsRequest {
  id?: string;
  cves?: string[];
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
  uidp?: UIDPFilterInput;
}
export interface UIDPFilterInput {
  ancestorsOf?: string;
  descendantsOf?: string;
  childrenOf?: string;
  inRoot?: boolean;
  ids?: string[];
}
export interface ListDocumentsResponse {
  documents: Document[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
  staleFeeds: StaleFeed[];
}
export interface Document {
  id: string;
  advisories: DocumentAdvisory[];
  incomplete: boolean;
}
export interface DocumentAdvisory {
  id: string;
  events: DocumentEvent[];
  aliases: string[];
  packageNamespace: string;
  feed: string;
  licence: string;
}
export interface DocumentEvent {
  timestamp?: string;
  truePositiveDetermination?: AdvisoryEventTruePositiveDetermination;
  falsePositiveDetermination?: AdvisoryEventFalsePositiveDetermination;
  fixed?: DocumentEventFixed;
  detection?: DocumentEventDetection;
  analysisNotPlanned?: AdvisoryEventAnalysisNotPlanned;
  fixNotPlanned?: AdvisoryEventFixNotPlanned;
  pendingUpstreamFix?: AdvisoryEventPendingUpstreamFix;
  patched?: AdvisoryEventPatched;
}
export interface AdvisoryEventTruePositiveDetermination {
  note: string;
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
export interface DocumentEventFixed {
  fixedVersion: string;
  scannerVersion: string;
  grypeDbBuilt: string;
  grypeDbChecksum: string;
}
export interface DocumentEventDetection {
  nvdapi?: AdvisoryEventDetectionNVDAPI;
  manual?: AdvisoryEventDetectionManual;
  scanv1?: DocumentEventDetectionScanV1;
}
export interface AdvisoryEventDetectionNVDAPI {
  cpeSearched: string;
  cpeFound: string;
}
export interface AdvisoryEventDetectionManual {}
export interface DocumentEventDetectionScanV1 {
  scanner: string;
  subpackageName: string;
  componentId: string;
  componentName: string;
  componentVersion: string;
  componentType: string;
  componentLocation: string;
  artifactVersion: string;
  scannerVersion: string;
  grypeDbBuilt: string;
  grypeDbChecksum: string;
}
export interface AdvisoryEventAnalysisNotPlanned {
  note: string;
}
export interface AdvisoryEventFixNotPlanned {
  note: string;
}
export interface AdvisoryEventPendingUpstreamFix {
  note: string;
}
export interface AdvisoryEventPatched {
  patchedVersions: string[];
  note: string;
}
export interface StaleFeed {
  feed: string;
  successTime?: string;
  interval?: string;
}
export interface ListResolvedVulnsReportsRequest {
  imageRefs?: ListResolvedVulnsReportsRequestImageRefInput[];
  startTime?: string;
  endTime?: string;
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
  uidp?: UIDPFilterInput;
}
export interface ListResolvedVulnsReportsRequestImageRefInput {
  repo?: string;
  tags?: string[];
}
export interface ListResolvedVulnsReportsResponse {
  resolvedVulnsReports: ResolvedVulnsReport[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
}
export interface ResolvedVulnsReport {
  date?: string;
  resolvedVulns: ResolvedVuln[];
  state: string;
  stateReason: string;
  staleFeeds: StaleFeed[];
}
export interface ResolvedVuln {
  id: string;
  aliases: string[];
  cvssSeverities: Severity[];
}
export interface Severity {
  type: SeverityType;
  score: string;
}
export type SeverityType = "TYPE_UNSPECIFIED" | "TYPE_CVSS_V2" | "TYPE_CVSS_V3" | "TYPE_CVSS_V4";
export interface ListVulnerabilityMetadataRequest {
  id?: string;
  ids?: string[];
  pageSize?: number;
  pageToken?: string;
  orderBy?: string;
  skip?: number;
  uidp?: UIDPFilterInput;
}
export interface ListVulnerabilityMetadataResponse {
  vulnerabilityMetadata: VulnerabilityMetadata[];
  nextPageToken: string;
  totalCount?: string;
  skipped: number;
  staleFeeds: StaleFeed[];
}
export interface VulnerabilityMetadata {
  id: string;
  summary: string;
  details: string;
  references: Reference[];
  severities: Severity[];
  aliases: string[];
  severity: string;
  cvssScore?: number;
  knownExploited?: VulnerabilityMetadataKnownExploited;
  epss?: VulnerabilityMetadataEpss;
  withdrawTime?: string;
  sources: VulnerabilityMetadataSource[];
}
export interface Reference {
  type: ReferenceType;
  url: string;
}
export type ReferenceType =
  | "TYPE_UNSPECIFIED"
  | "TYPE_ADVISORY"
  | "TYPE_ARTICLE"
  | "TYPE_DETECTION"
  | "TYPE_DISCUSSION"
  | "TYPE_REPORT"
  | "TYPE_FIX"
  | "TYPE_INTRODUCED"
  | "TYPE_PACKAGE"
  | "TYPE_EVIDENCE"
  | "TYPE_WEB";
export interface VulnerabilityMetadataKnownExploited {
  dateAdded: string;
  dueDate: string;
  requiredAction: string;
  knownRansomwareCampaignUse: string;
}
export interface VulnerabilityMetadataEpss {
  probability: number;
  percentile: number;
}
export interface VulnerabilityMetadataSource {
  feed: string;
  record: string;
  licence: string;
  modifyTime?: string;
  withdrawTime?: string;
}
export const listDocuments = method<ListDocumentsRequest, ListDocumentsResponse>("GET", "/advisory/v2/documents", "");
export const listResolvedVulnsReports = method<ListResolvedVulnsReportsRequest, ListResolvedVulnsReportsResponse>(
  "GET",
  "/advisory/v2/images/resolvedVulns",
  "",
);
export const listVulnerabilityMetadata = method<ListVulnerabilityMetadataRequest, ListVulnerabilityMetadataResponse>(
  "GET",
  "/advisory/v2/metadata",
  "",
);
