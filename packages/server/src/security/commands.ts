import { checkNextAttachments } from "./attached/check.ts";
import {
  claimAttached,
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
  failCatalog,
  finishCatalog,
  releaseCatalog,
  renewCatalog,
  writeCatalogPart,
} from "./catalog/queue.ts";
import { removeCatalog } from "./catalog/remove.ts";
import { feedCommands } from "./feeds/commands.ts";
import { matchChanges } from "./findings/match-changes.ts";
import { matchPackages } from "./findings/match-packages.ts";

/** The commands of security beside the methods of the API. */
export const securityCommands = [
  ...feedCommands,
  checkNextAttachments,
  claimAttached,
  claimCatalog,
  failAttached,
  failCatalog,
  finishAttached,
  finishCatalog,
  matchChanges,
  matchPackages,
  releaseAttached,
  releaseCatalog,
  removeAttached,
  removeCatalog,
  renewAttached,
  renewCatalog,
  reviewAttachments,
  writeAttachedPart,
  writeAttachedStatements,
  writeCatalogPart,
] as const;
