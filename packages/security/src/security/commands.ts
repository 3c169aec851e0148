import { checkNextDocumentPolicies } from "./attached/document-policies.ts";
import { checkNextAttachments } from "./attached/check.ts";
import {
  claimAttached,
  claimOutdatedAttached,
  failAttached,
  finishAttached,
  releaseAttached,
  renewAttached,
  writeAttachedPart,
  writeAttachedStatements,
} from "./attached/queue.ts";
import { removeAttached, reviewAttachments } from "./attached/remove.ts";
import {
  claimCatalog,
  claimOutdated,
  failCatalog,
  releaseCatalog,
  renewCatalog,
  writeCatalogPart,
} from "./catalog/queue.ts";
import { removeCatalog } from "./catalog/remove.ts";
import { feedCommands } from "./feeds/commands.ts";
import { expireFindingDays, writeFindingDays } from "./finding-days/measure.ts";
import { findImages } from "./findings/find-images.ts";
import { identifyArchives } from "./findings/identify-archives.ts";
import { matchChanges } from "./findings/match-changes.ts";
import { matchPackages } from "./findings/match-packages.ts";
import { emitNotices } from "./findings/notices.ts";
import { removeNotices } from "./findings/remove-notices.ts";
import { requestAutomaticScans } from "./scanners/automatic.ts";
import { storeScannerAdapter } from "./scanners/check.ts";
import {
  acceptScan,
  claimScan,
  failScan,
  finishScan,
  releaseScan,
  renewScan,
  writeScannedPart,
} from "./scanners/queue.ts";
import { reviewScans } from "./scanners/remove.ts";
import { restateFeeds } from "./trusted/restate-feeds.ts";

/** The commands of security beside the methods of the API. */
export const securityCommands = [
  ...feedCommands,
  acceptScan,
  checkNextAttachments,
  checkNextDocumentPolicies,
  claimAttached,
  claimOutdatedAttached,
  claimCatalog,
  claimOutdated,
  claimScan,
  emitNotices,
  expireFindingDays,
  failAttached,
  failCatalog,
  failScan,
  findImages,
  finishAttached,
  finishScan,
  identifyArchives,
  matchChanges,
  matchPackages,
  releaseAttached,
  releaseCatalog,
  releaseScan,
  removeAttached,
  removeCatalog,
  removeNotices,
  renewAttached,
  renewCatalog,
  renewScan,
  requestAutomaticScans,
  restateFeeds,
  reviewAttachments,
  reviewScans,
  storeScannerAdapter,
  writeAttachedPart,
  writeAttachedStatements,
  writeCatalogPart,
  writeFindingDays,
  writeScannedPart,
] as const;
