import { countedBelow } from "../aip/resource.ts";
import type { Area } from "../core/area.ts";
import { REGISTRY_CHECKS } from "./checks.ts";
import { REGISTRY_TABLES } from "./tables.ts";

export const registryArea: Area = {
  name: "registry",
  tables: REGISTRY_TABLES,
  below: { group: { hindrances: countedBelow({ repos: "repos" }) } },
  checks: REGISTRY_CHECKS,
};
