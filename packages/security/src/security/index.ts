// The services and functions of security that other features use.
export { securityArea } from "./area.ts";
export { LOCATION_CHANGED, locationChangeOf, setLocationChange } from "./advisories/location-changes.ts";
export { OPENVEX, OWN_VEX_REPO, repoOfOwnVex } from "./attached/own-vex.ts";
export { imageVexOf, type MadeVex, madeVex } from "./exports/image-vex.ts";
export type { ReadScanned } from "./scanners/read-report.ts";
export { type AttachedStatement, attachedStatements, statementsAbout } from "./attached/statements.ts";
export { catalogMetrics } from "./reading/metrics.ts";
export { startCatalogs } from "./reading/runner.ts";
export { type FindingsAsked, findingsOfImage, type ImageFinding } from "./findings/read.ts";
export { staleMessage } from "./coverage/messages.ts";
export { isAnyFeed } from "./coverage/spaces.ts";
export { isExploitationKnown } from "./exploitation/exploit-records.ts";
export { exploitedInPulled } from "./exploitation/pulled-images.ts";
export { libraryCoverage, spaceOfLibraries } from "./libraries/coverage.ts";
export { stateOfImages } from "./coverage/index-knowledge.ts";
export { matchingMetrics } from "./findings/metrics.ts";
export { judgeTagFindings } from "./findings/tag-filter.ts";
export { startMatching } from "./findings/runner.ts";
export { judgePromotion, readAhead } from "./gate/promotion.ts";
export { createPullGate } from "./gate/pull.ts";
export { type CountOptions, countsOfTag, type DayCount } from "./reports/counts.ts";
export { feedChanges } from "./reports/changes.ts";
export { describeFindings, type ReportedVulnerability } from "./reports/descriptions.ts";
export { feedsReadMs, type ImageReport, imageReport } from "./reports/image-report.ts";
export { type ReportedImage, reportedImages } from "./reports/images.ts";
export { scannedContent, type ScannedReport, scannedReports, scannedVulnerabilities } from "./reports/scan-reports.ts";
export { DAY_MS, dayOf, type Days } from "./resolved/days.ts";
export { cycloneDxDocument } from "./sbom/document.ts";
export { type Holdings, sourcesFor } from "./images/holdings.ts";
export { type ResolvedDay, resolvedByDay, type TaggedImages } from "./resolved/by-day.ts";
export { type DescribedVulnerability, describeResolved } from "./resolved/describe.ts";
export { type ImagePackages, type PackageFacts, packageFacts } from "./sbom/package-facts.ts";
export { libraryMalware, type LibraryMalware, type MalwareData, malwareOf } from "./libraries/malware.ts";
export { heldVersions, libraryKey, type LibraryName } from "./libraries/held-versions.ts";
export { countTagged, type TaggedImage, taggedImages, type TaggedPosition } from "./libraries/images.ts";
export { heldSince, platformsOf } from "./libraries/since.ts";
export {
  type AskedLibrary,
  hasMalwareRecords,
  isMalware,
  libraryVulnerabilities,
  type LibraryVulnerability,
} from "./libraries/library-vulnerabilities.ts";
export { librariesNamedBy, librariesWithRecords, type RegistryName } from "./libraries/library-names.ts";
export {
  fixingAdvisories,
  fixingAdvisoriesBelow,
  type FixingAdvisory,
  isFixedBy,
  libraryIn,
} from "./libraries/fixing-advisories.ts";
export { createScannerChecks } from "./scanners/check.ts";
export { scanMetrics } from "./scanners/metrics.ts";
export { readReportHere, startScans } from "./scanners/runner.ts";
export { reportOf as scanReportOf } from "./scanners/scans.ts";
export { isScanUnderWay } from "./scanners/under-way.ts";
export { feedMetrics } from "./feeds/metrics.ts";
export { putFeeds } from "./feeds/commands.ts";
export {
  checkedDefinition,
  DEFAULT_FEED_INTERVAL_MS,
  type FeedDefinition,
  FeedDefinitionError,
} from "./feeds/definition.ts";
export { changeFeed, feedToChange, markForRemoval, requestFetch } from "./feeds/change.ts";
export { defineFeeds } from "./feeds/define.ts";
export {
  dueFeeds,
  dueMs as feedDueMs,
  feedStates,
  isOverdue as isFeedOverdue,
  removedFeeds,
  removeFeeds,
  updateDueFeeds,
} from "./feeds/due.ts";
export { type Covered, coveredIn } from "./feeds/coverage.ts";
export { doesCover } from "./feeds/covers.ts";
export { FEED_PRESETS, type FeedPreset, PRESET_GROUPS, presetAddress, presetsNamed } from "./feeds/presets.ts";
export { FEED_FORMATS, type FeedFormat } from "./records/formats.ts";
export { type FeedDeps, type Imported, importFeed, type ImportOptions, removeFeed } from "./feeds/import.ts";
export { SourceError } from "./records/record.ts";
export { fileSource } from "./feeds/source.ts";
export { type StaleFeed, staleAt, staleFeeds, staleText } from "./coverage/stale-feeds.ts";
export { feedsOf, type Joined, type JoinedFeed, joinVulnerabilities } from "./vulnerabilities/join.ts";
export { knownVulnerabilities, type KnownVulnerability, unreadOf } from "./vulnerabilities/known-vulnerabilities.ts";
export { requireFeedReader } from "./reports/service.ts";

/** Loaded on first use: the reading of feeds takes libraries that a server without feeds does not need. */
export const loadFeedBundles = () => import("./feeds/bundle.ts");
export const loadFeedUpdates = () => import("./feeds/update.ts");
export const loadFeedRecognition = () => import("./feeds/recognize.ts");
export { versionOrder } from "./matching/package-keys.ts";
export { vulnerabilityKey } from "./records/record.ts";
