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
  claimCatalog,
  failCatalog,
  finishCatalog,
  matchChanges,
  matchPackages,
  releaseCatalog,
  removeCatalog,
  renewCatalog,
  writeCatalogPart,
] as const;
