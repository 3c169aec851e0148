// Applies a plan of packages: each version with its bytes, its time and its tags; the same again goes on where it was.
import { compareVersions } from "@moorage/kernel/lib/versions";
import { UsageFailure } from "../command/failure.ts";
import { forItem } from "./apply-context.ts";
import { ItemFailure } from "./item-failure.ts";
import { inParallel } from "./parallel.ts";
import { type Plan, type PlanItem, requireKinds } from "./plan.ts";
import type { Results } from "./results.ts";
import { publish } from "./publish.ts";
import { ofItem } from "./source-error.ts";
import { applyTags, tagsToSet } from "./apply-package-tags.ts";
import { type PackageApplying, packagesOf, type PlannedPackage } from "./package-context.ts";
import { packageOf, packagePath, packagePlaceOf } from "./npm-names.ts";
import { type PackageHere, packageHere, packagesHere, registryPath, shownHere } from "./packages-here.ts";
import type { SourcePackage } from "./packument.ts";
import { documentOf } from "./npm-publication.ts";
import { areSame, haveSums } from "./sums.ts";

const KINDS = ["package", "version", "upstream"] as const;
// Each holds a tarball in memory.
const PACKAGES_AT_ONCE = 3;

/** Applies all that can come. What fails is in the results; throws what concerns everything. */
export async function applyPackages(
  applying: PackageApplying,
  plan: Plan,
  note: (done: number, total: number) => void,
): Promise<void> {
  const { results } = applying;
  requireKinds(plan, KINDS);
  for (const item of plan.items) if (item.action === "cannot") results.add(item, "cannot", item.why);
  const packages = packagesOf(plan);
  const lost = packages.find(({ item }) => packagePlaceOf(item.source).index !== "");
  if (lost !== undefined) throw new UsageFailure(`a plan of ${plan.kind} has no repositories: ${lost.item.source}`);
  let done = 0;
  note(done, packages.length);
  await movePackages(applying, packages, () => note((done += 1), packages.length));
}

/** Moves packages into their group. `ended` is called after each. */
export async function movePackages(
  applying: PackageApplying,
  packages: readonly PlannedPackage[],
  ended: () => void,
): Promise<void> {
  const here = await packagesHere(applying.rest, applying.group);
  const move = (planned: PlannedPackage): Promise<void> =>
    movePackage(applying, planned, here.get(packagePlaceOf(planned.item.source).name));
  for await (const _ of inParallel(packages, move, PACKAGES_AT_ONCE)) ended();
}

async function movePackage(applying: PackageApplying, planned: PlannedPackage, uid: string | undefined): Promise<void> {
  const { into, rest, source, results } = applying;
  const { item, versions } = planned;
  const { name } = packagePlaceOf(item.source);
  const place = { into, name };
  await forItem(results, item, async () => {
    const here = await packageHere(rest, { ...place, uid });
    let published = 0;
    const wanted = versions.filter((version) => !isHere(results, version, here));
    if (wanted.length > 0) {
      const found = await ofItem(() => source.read(name));
      for (const version of latestFirst(planned, wanted))
        if (await forItem(results, version, () => moveVersion(applying, planned, { item: version, found, here })))
          published += 1;
    }
    await applyTags(applying, planned, published);
  });
  if (results.isFailed(item))
    for (const version of versions) results.add(version, "failed", "what is here of its package cannot be read");
}

/** Whether a version is here; whether with the bytes of the plan is in the results. */
function isHere(results: Results, version: PlanItem, here: PackageHere): boolean {
  const ours = here.versions.get(packageOf(version.source).version);
  if (ours === undefined) return false;
  if (areSame(ours, [version.sum ?? ""]) === true) results.add(version, "same");
  else results.fail(version, "is here with other bytes, or with a sum that cannot be compared");
  return true;
}

/**
 * The version of `latest` comes first, or else the newest release: the first one that is published is the latest until
 * another one is.
 */
function latestFirst({ item }: PlannedPackage, versions: readonly PlanItem[]): PlanItem[] {
  const numberOf = ({ source }: PlanItem): string => packageOf(source).version;
  const newest = versions
    .filter((version) => !numberOf(version).includes("-"))
    .toSorted((one, other) => compareVersions("semver", numberOf(one), numberOf(other)))
    .at(-1);
  const first = versions.find((version) => numberOf(version) === item.tags?.["latest"]) ?? newest;
  return first === undefined ? [...versions] : [first, ...versions.filter((version) => version !== first)];
}

/** Publishes a version. Answers false when it is here by now, or was removed here. */
async function moveVersion(
  applying: PackageApplying,
  planned: PlannedPackage,
  { item, found, here }: { item: PlanItem; found: SourcePackage; here: PackageHere },
): Promise<boolean> {
  const { into, rest, source, results } = applying;
  const { name, version: number } = packageOf(item.source);
  const version = found.versions.find((each) => each.version === number);
  if (version === undefined) throw new ItemFailure("is no longer there");
  if (version.fault !== undefined) throw new ItemFailure(version.fault);
  const { sum = "" } = item;
  if (!version.sums.includes(sum)) throw new ItemFailure("has other bytes there than when the plan was made");
  const chunks = await ofItem(() => source.tarball(version.tarball));
  if (!haveSums(chunks, version.sums)) throw new ItemFailure("the source sends other bytes than its sums say");
  const isLatest = found.tags.get("latest") === number;
  const publication = { package: { name, readme: isLatest ? found.readme : "" }, version, chunks };
  let tags = tagsToSet(planned, number, here);
  for (;;) {
    const rejection = await publish(rest, `${registryPath(into)}/${packagePath(name)}`, {
      method: "PUT",
      headers: { "content-type": "application/json", ...(item.time && { "moorage-publish-time": item.time }) },
      bodyOf: () => documentOf({ ...publication, tags }),
    });
    if (rejection === undefined) {
      results.add(item, "done");
      return true;
    }
    const { status, error } = rejection;
    if (status === 403 && /cannot publish over/.test(error.message)) {
      await judgeThere(applying, item);
      return false;
    }
    if (status !== 400 || !/: (?:tag|dist-tags)\b/.test(error.message) || tags.length === 0) throw error;
    tags = [];
  }
}

/** Its number is taken here: it came meanwhile, as by a command that was killed, or it was removed here. */
async function judgeThere({ into, rest, results }: PackageApplying, item: PlanItem): Promise<void> {
  const { name, version } = packageOf(item.source);
  const here = await shownHere(rest, into, name);
  // Nobody is shown what was removed, not by an upstream either.
  if (!here.versions.has(version)) results.add(item, "kept", "was removed here");
  else isHere(results, item, here);
}
