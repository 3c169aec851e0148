import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Area } from "@moorage/kernel/core/area";
import { REGISTRY_CHECKS } from "./checks.ts";
import { endQuota } from "./quotas/service.ts";
import { REGISTRY_TABLES } from "./tables.ts";

export const registryArea: Area = {
  name: "registry",
  tables: REGISTRY_TABLES,
  below: { group: { hindrances: countedBelow({ repos: "repos" }), end: endQuota } },
  checks: REGISTRY_CHECKS,
};
