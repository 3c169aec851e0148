// Versions of Python projects that are yanked there are so here, once all of their files have come.
import { pypiName } from "@moorage/kernel/lib/purls";
import type { PlannedProject, ProjectApplying } from "./project-context.ts";
import { fileHere, projectHere, projectsHere, versionHere } from "./projects-here.ts";
import { projectPlaceOf } from "./python-names.ts";

/** Yanks what came by this plan and is yanked there. What was here before the plan stays as it is. */
export async function yankFiles(
  { rest, here, results }: ProjectApplying,
  { item, files, group }: PlannedProject,
): Promise<number> {
  const wanted = files.filter(
    (file) => file.yanked !== undefined && file.action === "create" && !results.isFailed(file),
  );
  if (wanted.length === 0) return 0;
  const { project } = projectPlaceOf(item);
  const uid = (await projectsHere(rest, here.groups.get(group) ?? "")).get(pypiName(project));
  const found = await projectHere(rest, { group, name: project, uid });
  let yanked = 0;
  const seen = new Set<string>();
  for (const file of wanted) {
    const { version = "", yanked: yankReason = "" } = file;
    const versionUid = versionHere(found.versions, version);
    const shown = fileHere(found, projectPlaceOf(file).file, version);
    if (versionUid === undefined || shown === undefined || shown.isYanked || seen.has(versionUid)) continue;
    seen.add(versionUid);
    const path = `/libraries/v2/artifactVersions/${encodeURIComponent(versionUid)}`;
    await rest.call("PATCH", path, {
      query: { updateMask: "yanked,yankReason" },
      body: { yanked: true, yankReason },
    });
    yanked += 1;
  }
  return yanked;
}
