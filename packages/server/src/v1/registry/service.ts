import { Registry } from "@moorage/api/v1/registry";
import type { Method } from "../../runtime/methods.ts";
import { translated } from "../service.ts";
import { repo, repos } from "./repos.ts";
import { tagReports } from "./tag-reports.ts";
import { tag, tags } from "./tags.ts";

/** moorage.registry.Registry. */
export const registry: [string, Method][] = translated(Registry, [repo, tag], { ...repos, ...tags, ...tagReports }, [
  "getImageConfig",
  "getArchs",
  "getSize",
  "listManifestMetadata",
  "getSyncStatus",
  "listSyncStatuses",
  "getSbom",
  "getRawSbom",
  "getVulnReport",
  "listEolTags",
  "getPackageVersionMetadata",
]);
