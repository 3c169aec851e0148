// Tags of npm packages: as they are there, unless they were changed here.
import { ItemFailure } from "./item-failure.ts";
import type { PackageApplying, PlannedPackage } from "./package-context.ts";
import { packageOf, packagePath } from "./npm-names.ts";
import { findPackage, type PackageHere, packageHere, refused, registryPath } from "./packages-here.ts";

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

/** Sets the tags that are not here, and says what came of the package. `before`: what was here at first. */
export async function applyTags(
  { plan, rest, group, results }: PackageApplying,
  { item, versions }: PlannedPackage,
  { isNew, before }: { isNew: boolean; before: PackageHere },
): Promise<void> {
  const { into } = plan;
  const name = item.source;
  const here = await packageHere(rest, { into, name, uid: await findPackage(rest, group, name) });
  const [failed, kept]: [string[], string[]] = [[], []];
  for (const [tag, version] of Object.entries(item.tags ?? {})) {
    const now = here.tags.get(tag);
    if (now === version) continue;
    const target = versions.find(({ source }) => source === `${name}@${version}`);
    if (!here.versions.has(version))
      (target && results.isFailed(target) ? failed : kept).push(
        `its tag ${tag} points to ${version} there, which is not here`,
      );
    else if (now !== undefined) kept.push(`its tag ${tag} points to ${now} here, and to ${version} there`);
    else await setTag({ rest, into, name }, tag, version).catch(noted(failed, tag));
  }
  if (failed.length > 0) return results.fail(item, [...failed, ...kept].join("; "));
  if (kept.length > 0) return results.add(item, "kept", kept.join("; "));
  const isSame = here.versions.size === before.versions.size && here.tags.size === before.tags.size;
  results.add(item, isNew || !isSame ? "done" : "same", versions.length === 0 ? "none of its versions come" : "");
}

/** Collects what is refused of one tag. */
function noted(failed: string[], tag: string): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ItemFailure)) throw error;
    failed.push(`its tag ${tag}: ${error.message}`);
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
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw refused(response.status, body);
}
