// What the steps of applying a plan of packages share.
import type { RestClient } from "../api/rest.ts";
import type { Plan, PlanItem } from "./plan.ts";
import type { Results } from "./results.ts";
import { packageOf } from "./npm-names.ts";
import type { PackageSource } from "./verdaccio-source.ts";

/** A plan of packages that is being applied. */
export interface PackageApplying {
  plan: Plan;
  rest: RestClient;
  /** The uid of the group. */
  group: string;
  source: PackageSource;
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
      packages.get(packageOf(item.source).name)?.versions.push(item);
  return [...packages.values()];
}
