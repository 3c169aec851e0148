import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Area } from "@moorage/kernel/core/area";
import { REGISTRY_CHECKS } from "./checks.ts";
import { REGISTRY_TABLES } from "./tables.ts";

export const registryArea: Area = {
  name: "registry",
  tables: REGISTRY_TABLES,
  below: { group: { hindrances: countedBelow({ repos: "repos" }) } },
  checks: REGISTRY_CHECKS,
};
