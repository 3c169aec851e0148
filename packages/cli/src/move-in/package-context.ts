// What the steps of applying a plan of packages share.
import type { RestClient } from "../api/rest.ts";
import type { Plan, PlanItem } from "./plan.ts";
import type { Results } from "./results.ts";
import { packageOf, packageSource } from "./npm-names.ts";
import type { PackageReader } from "./packument.ts";

/** Packages of a plan that is being applied, of one group. */
export interface PackageApplying {
  rest: RestClient;
  /** The path of the group that these packages go into. */
  into: string;
  /** Its uid. */
  group: string;
  source: PackageReader;
  results: Results;
}

/** A package of a plan with its versions, none of which cannot come. */
export interface PlannedPackage {
  item: PlanItem;
  versions: PlanItem[];
}

/** The packages of a plan that can come, with their versions. */
export function packagesOf({ items }: Plan): PlannedPackage[] {
  const packages = new Map<string, PlannedPackage>();
  for (const item of items)
    if (item.kind === "package" && item.action !== "cannot") packages.set(item.source, { item, versions: [] });
  for (const item of items)
    if (item.kind === "version" && item.action !== "cannot")
      packages.get(packageSource(packageOf(item.source)))?.versions.push(item);
  return [...packages.values()];
}
