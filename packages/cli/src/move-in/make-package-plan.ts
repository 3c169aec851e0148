// Makes the plan of a registry of packages: reads it and what is here, and changes nothing.
import type { RestClient } from "../api/rest.ts";
import { ItemFailure } from "./item-failure.ts";
import { inParallel } from "./parallel.ts";
import { packagePlan, requireSpace } from "./package-plan.ts";
import type { Action, Plan, PlanItem } from "./plan.ts";
import { isOfOne } from "./source-error.ts";
import { faultOfPackage, packageSource } from "./npm-names.ts";
import { type PackageHere, packageHere, packagesHere } from "./packages-here.ts";
import type { PackageReader, SourcePackage, SourceVersion } from "./packument.ts";
import { areSame } from "./sums.ts";
import type { PackageSource } from "./verdaccio-source.ts";

/** What a plan is made of. */
export interface PackagePlanning {
  kind: string;
  into: string;
  /** The uid of that group. */
  group: string;
  source: PackageSource;
  /** The packages that are to come; undefined for all. */
  names: readonly string[] | undefined;
  rest: RestClient;
  /** Is shown how far it is. */
  note(done: number, total: number): void;
}

/** Where packages come from, and where they go. */
export interface PackagePlace {
  rest: RestClient;
  /** The path of the group that everything goes below. */
  into: string;
  /** The repository, which is a group below it; empty for that group itself. */
  index: string;
  source: PackageReader;
}

/** What was read of a package: its items, and from which uplinks it has versions. */
interface Read {
  items: PlanItem[];
  uplinks: readonly string[];
}

/** Reads the source whole. Throws a Failure when it does not answer, or has more than one plan can hold. */
export async function makePackagePlan(planning: PackagePlanning): Promise<Plan> {
  const { into, source, group, rest, note } = planning;
  const names = [...new Set(planning.names ?? (await source.names()))].toSorted();
  const here = await packagesHere(rest, group);
  const items: PlanItem[] = [];
  const uplinks = new Set<string>();
  let done = 0;
  for await (const read of inParallel(names, (name) =>
    readPackage({ rest, into, index: "", source }, name, here.get(name)),
  )) {
    items.push(...read.items);
    for (const uplink of read.uplinks) uplinks.add(uplink);
    requireSpace(items.length);
    note((done += 1), names.length);
  }
  items.push(...[...uplinks].toSorted().map((uplink) => upstreamItem(into, uplink)));
  return packagePlan(planning, items, ["version"]);
}

/** Suggests what an uplink is here. Its address and its passwords are in the configuration there, which is not read. */
function upstreamItem(into: string, uplink: string): PlanItem {
  const why = `an uplink, whose address only its configuration says: moorage upstreams create ${into} --ecosystem javascript --upstream-url URL`;
  return { kind: "upstream", source: uplink.slice(0, 200), target: "", action: "cannot", why };
}

/** Plans a package. `uid`: of the one of that name here. */
export async function readPackage(place: PackagePlace, name: string, uid: string | undefined): Promise<Read> {
  const { into, index, rest, source } = place;
  const known = packageSource({ index, name });
  const item = (action: Action, why: string): PlanItem => ({
    kind: "package",
    source: known.slice(0, 1_000),
    target: action === "cannot" ? "" : `${into}/${known}`,
    action,
    why,
  });
  const fault = faultOfPackage(name);
  if (fault !== undefined) return { items: [item("cannot", fault)], uplinks: [] };
  try {
    const uplinks = await source.uplinksOf(name);
    if (uplinks.length > 0) {
      const why = `the source does not say which of its versions come from the uplink ${uplinks.join(", ")}: none is copied`;
      return { items: [item("cannot", why.slice(0, 1_000))], uplinks };
    }
    const found = await source.read(name);
    const here = await packageHere(rest, { into: index === "" ? into : `${into}/${index}`, name, uid });
    const versions = found.versions.map((version) => versionItem(place, found, version, here));
    const isSame = versions.every(({ action }) => action !== "create") && tagsAreSame(found, here);
    const tags = Object.fromEntries(found.tags);
    const action = uid === undefined ? "create" : isSame ? "same" : "update";
    const isLatest = found.tags.has("latest") || versions.every((version) => version.action === "cannot");
    const why = isLatest ? "" : "has no tag latest there: the first of its versions that comes gets it here";
    return { items: [{ ...item(action, why), tags }, ...versions], uplinks: [] };
  } catch (error) {
    if (!isOfOne(error) && !(error instanceof ItemFailure)) throw error;
    return { items: [item("cannot", error.message)], uplinks: [] };
  }
}

function tagsAreSame({ tags }: SourcePackage, here: PackageHere): boolean {
  return [...tags].every(([tag, version]) => here.tags.get(tag) === version);
}

function versionItem(
  { into, index }: PackagePlace,
  { name }: SourcePackage,
  { version, sums, time, manifest, fault }: SourceVersion,
  here: PackageHere,
): PlanItem {
  const source = `${packageSource({ index, name })}@${version}`.slice(0, 1_000);
  const cannot = (why: string): PlanItem => ({ kind: "version", source, target: "", action: "cannot", why });
  const [sum] = sums;
  if (fault !== undefined || sum === undefined) return cannot(fault ?? "the source says no sum of its tarball");
  const ours = here.versions.get(version);
  const isSame = ours && areSame(ours, sums);
  if (ours !== undefined && isSame !== true)
    return cannot(isSame === false ? "is here with other bytes" : "is here, and no sum of it can be compared");
  const why = [
    ...(typeof manifest["deprecated"] === "string" && manifest["deprecated"] !== "" ? ["deprecated there"] : []),
    ...(time === undefined ? ["the source does not say when it was published: counts as published when it comes"] : []),
  ].join("; ");
  const action = ours === undefined ? "create" : "same";
  return { kind: "version", source, target: `${into}/${source}`, action, why, sum, ...(time && { time }) };
}
