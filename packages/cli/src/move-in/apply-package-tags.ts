// Tags of npm packages: as they are there, unless they were changed here.
import { ItemFailure } from "./item-failure.ts";
import type { PackageApplying, PlannedPackage } from "./package-context.ts";
import { packageOf, packagePath, packagePlaceOf } from "./npm-names.ts";
import { type PackageHere, registryPath, shownHere } from "./packages-here.ts";
import { refused } from "./publish.ts";

/**
 * The tags that come with a version: they are set in the commit that publishes it. One that points to what was
 * published here alone stays.
 */
export function tagsToSet({ item, versions }: PlannedPackage, version: string, here: PackageHere): string[] {
  const theirs = new Set(versions.map(({ source }) => packageOf(source).version));
  const isOurs = (tag: string): boolean => {
    const now = here.tags.get(tag);
    return now !== undefined && !theirs.has(now);
  };
  return Object.entries(item.tags ?? {}).flatMap(([tag, target]) => (target === version && !isOurs(tag) ? [tag] : []));
}

/**
 * Sets the tags that are not here, and says what came of the package. `published`: how many of its versions came now.
 */
export async function applyTags(
  { into, rest, results }: PackageApplying,
  { item, versions }: PlannedPackage,
  published: number,
): Promise<void> {
  const { name } = packagePlaceOf(item.source);
  if (versions.length === 0) return results.add(item, "left", "none of its versions come");
  const here = await shownHere(rest, into, name);
  const [failed, kept]: [string[], string[]] = [[], []];
  let set = 0;
  for (const [tag, version] of Object.entries(item.tags ?? {})) {
    const now = here.tags.get(tag);
    if (now === version) continue;
    const target = versions.find(({ source }) => packageOf(source).version === version);
    if (!here.versions.has(version))
      (target && results.isFailed(target) ? failed : kept).push(
        `its tag ${tag} points to ${version} there, which is not here`,
      );
    else if (now !== undefined) kept.push(`its tag ${tag} points to ${now} here, and to ${version} there`);
    else if (await setTag({ rest, into, name }, tag, version).then(() => true, noted(failed, tag))) set += 1;
  }
  if (failed.length > 0) results.fail(item, [...failed, ...kept].join("; "));
  else if (kept.length > 0) results.add(item, "kept", kept.join("; "));
  else results.add(item, published + set > 0 ? "done" : "same");
}

/** Collects what is refused of one tag. */
function noted(failed: string[], tag: string): (error: unknown) => boolean {
  return (error) => {
    if (!(error instanceof ItemFailure)) throw error;
    failed.push(`its tag ${tag}: ${error.message}`);
    return false;
  };
}

async function setTag(
  { rest, into, name }: { rest: PackageApplying["rest"]; into: string; name: string },
  tag: string,
  version: string,
): Promise<void> {
  const path = `${registryPath(into)}/-/package/${packagePath(name)}/dist-tags/${encodeURIComponent(tag)}`;
  const response = await rest.fetch(path, {
    method: "PUT",
    audience: "registry",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(version),
  });
  const body = await response.text().catch(() => "");
  if (!response.ok) throw refused(response.status, body);
}
