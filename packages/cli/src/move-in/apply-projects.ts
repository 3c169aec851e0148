// Applies a plan of libraries: groups, then each file with its bytes and its time, then upstreams; the same again goes
// on where it was.
import { pypiName } from "@moorage/kernel/lib/purls";
import { forItem } from "./apply-context.ts";
import { artifactsOf, moveArtifacts } from "./apply-maven.ts";
import { movePackages } from "./apply-packages.ts";
import { applyGroups } from "./apply-repos.ts";
import { applyUpstreams } from "./apply-upstreams.ts";
import { yankFiles } from "./apply-yanks.ts";
import { ItemFailure } from "./item-failure.ts";
import { inParallel } from "./parallel.ts";
import { type ItemKind, type Plan, type PlanItem, requireKinds } from "./plan.ts";
import { packagePlaceOf } from "./npm-names.ts";
import { packagesOf, type PlannedPackage } from "./package-context.ts";
import { type PlannedProject, type ProjectApplying, projectsOf } from "./project-context.ts";
import type { ProjectSource, SourceFile, SourceProject } from "./project-source.ts";
import { fileHere, projectHere, type ProjectHere, projectsHere, pythonPath } from "./projects-here.ts";
import { publish } from "./publish.ts";
import { projectPlaceOf } from "./python-names.ts";
import { uploadForm } from "./python-upload.ts";
import type { Results } from "./results.ts";
import { ofItem } from "./source-error.ts";
import { areSame, haveSums, hexOf } from "./sums.ts";

const PYTHON_KINDS = ["group", "project", "file", "upstream"] as const;
/** Of what is copied by the server, as images of any registry are. */
export const IMAGE_KINDS = ["repo", "tag"] as const;
const KINDS = [...PYTHON_KINDS, "package", "version", "maven-artifact", "maven-file"] as const;
// Each holds a file in memory.
const PROJECTS_AT_ONCE = 3;

/** Applies all that can come. What fails is in the results; throws what concerns everything. */
export async function applyProjects(
  applying: ProjectApplying,
  note: (done: number, total: number) => void,
): Promise<void> {
  const { plan, results } = applying;
  requireKinds(plan, kindsOf(applying.source));
  for (const item of plan.items) if (item.action === "cannot") results.add(item, "cannot", item.why);
  await applyGroups(applying);
  const projects = projectsOf(plan);
  const packages = Map.groupBy(packagesOf(plan), ({ item }) => packagePlaceOf(item.source).index);
  const artifacts = artifactsOf(plan);
  const all = [...projects, ...[...packages, ...artifacts].flatMap(([index, each]) => inGroup(plan, index, each))];
  let done = 0;
  note(done, all.length);
  const ended = (): void => note((done += 1), all.length);
  const uids = uidsByGroup(applying);
  const move = (planned: PlannedProject): Promise<void> => moveProject(applying, planned, uids);
  for await (const _ of inParallel(projects, move, PROJECTS_AT_ONCE)) ended();
  for (const [index, each] of packages) await movePackagesOf(applying, index, each, ended);
  for (const [index, each] of artifacts) await moveArtifacts(applying, index, each, ended);
  await applyUpstreams(applying, all);
}

/** What a plan of a source may have. */
function kindsOf({ packages, images }: ProjectSource): readonly ItemKind[] {
  if (packages === undefined) return PYTHON_KINDS;
  return images === undefined ? KINDS : [...KINDS, ...IMAGE_KINDS];
}

/** What an index holds, each with the path of its group. */
function inGroup(
  { into }: Plan,
  index: string,
  held: readonly { item: PlanItem }[],
): { item: PlanItem; group: string }[] {
  return held.map(({ item }) => ({ item, group: `${into}/${index}` }));
}

/** Moves the npm packages of an index. */
async function movePackagesOf(
  { plan, rest, here, source, results }: ProjectApplying,
  index: string,
  packages: readonly PlannedPackage[],
  ended: () => void,
): Promise<void> {
  const into = `${plan.into}/${index}`;
  const group = here.groups.get(into);
  const reader = source.packages?.(index);
  if (group !== undefined && reader !== undefined)
    return await movePackages({ rest, into, group, source: reader, results }, packages, ended);
  for (const { item, versions } of packages)
    for (const each of [item, ...versions]) results.fail(each, "its group is not there");
}

/** The uids of the projects of each group, which are asked for once. */
function uidsByGroup({ rest, here }: ProjectApplying): (group: string) => Promise<Map<string, string>> {
  const known = new Map<string, Promise<Map<string, string>>>();
  return (group) => {
    const uid = here.groups.get(group);
    if (uid === undefined) throw new ItemFailure("its group is not there");
    const found = known.get(group) ?? projectsHere(rest, uid);
    known.set(group, found);
    return found;
  };
}

async function moveProject(
  applying: ProjectApplying,
  planned: PlannedProject,
  uids: (group: string) => Promise<Map<string, string>>,
): Promise<void> {
  const { rest, source, results } = applying;
  const { item, files, group } = planned;
  const { index, project } = projectPlaceOf(item);
  await forItem(results, item, async () => {
    const place = { group, name: project, uid: (await uids(group)).get(pypiName(project)) };
    const here = await projectHere(rest, place);
    const wanted = files.filter((file) => !isHere(results, file, here));
    let published = 0;
    if (wanted.length > 0) {
      const found = await ofItem(() => source.read(index, project));
      for (const file of wanted)
        if (await forItem(results, file, () => moveFile(applying, planned, file, found))) published += 1;
    }
    const yanked = await yankFiles(applying, planned);
    const isAny = files.some((file) => !results.isFailed(file));
    if (files.length > 0 && !isAny) results.fail(item, "none of its files is here");
    else results.add(item, files.length === 0 ? "left" : published + yanked > 0 ? "done" : "same");
  });
  if (results.isFailed(item)) for (const file of files) results.add(file, "failed", "its project failed");
}

/** Whether a file is here; whether with the bytes of the plan is in the results. */
function isHere(results: Results, item: PlanItem, here: ProjectHere): boolean {
  const ours = fileHere(here, projectPlaceOf(item).file, item.version ?? "");
  if (ours === undefined) return false;
  if (areSame(ours.sums, [item.sum ?? ""]) === true) results.add(item, "same");
  else results.fail(item, "is here with other bytes, or with a sum that cannot be compared");
  return true;
}

/** Publishes a file. Answers false when it was removed here. */
async function moveFile(
  { rest, source, results }: ProjectApplying,
  { group }: PlannedProject,
  item: PlanItem,
  found: SourceProject,
): Promise<boolean> {
  const { sum = "", time } = item;
  const file = fileNow(item, found);
  const chunks = await ofItem(() => source.file(file.path));
  if (!haveSums(chunks, [...new Set([sum, ...file.sums])]))
    throw new ItemFailure("the source sends other bytes than its sums say");
  const { version, summary, requiresPython } = file;
  const { contentType, body } = uploadForm({
    name: found.name,
    version,
    summary,
    requiresPython,
    file: file.name,
    sha256: hexOf(sum),
    chunks,
  });
  const rejection = await publish(rest, `${pythonPath(group)}/legacy/`, {
    method: "POST",
    headers: { "content-type": contentType, ...(time && { "moorage-publish-time": time }) },
    bodyOf: body,
  });
  if (rejection !== undefined && !/was removed, and/.test(rejection.error.message)) throw rejection.error;
  results.add(
    item,
    rejection === undefined ? "done" : "kept",
    rejection === undefined ? "" : "its version was removed here",
  );
  return rejection === undefined;
}

/** The file as the source has it now. Throws an ItemFailure when it is another one than that of the plan. */
function fileNow(item: PlanItem, found: SourceProject): SourceFile {
  const { file: name } = projectPlaceOf(item);
  const file = found.files.find((each) => each.name === name && each.version === item.version);
  if (file === undefined) throw new ItemFailure("is no longer there");
  if (file.fault !== undefined) throw new ItemFailure(file.fault);
  if (!file.sums.includes(item.sum ?? "")) throw new ItemFailure("has other bytes there than when the plan was made");
  return file;
}
