// Makes the plan of a registry of Python projects, or of other libraries as well: reads it and what is here, and
// changes nothing.
import { pypiName } from "@moorage/kernel/lib/purls";
import type { RestClient } from "../api/rest.ts";
import type { Here } from "./here.ts";
import { ItemFailure } from "./item-failure.ts";
import { inParallel } from "./parallel.ts";
import { MAX_WHY } from "./plan-item.ts";
import { readPackage } from "./make-package-plan.ts";
import { readArtifact } from "./make-maven-plan.ts";
import { mavenHere } from "./maven-here.ts";
import { packagesHere } from "./packages-here.ts";
import { packagePlan, requireSpace } from "./package-plan.ts";
import { type Action, groupsAbove, type Plan, type PlanItem } from "./plan.ts";
import { planUpstream } from "./plan-upstream.ts";
import type { ProjectSource, SourceFile, SourceIndex, SourceProject } from "./project-source.ts";
import { fileHere, projectHere, type ProjectHere, projectsHere } from "./projects-here.ts";
import { faultOfProject, projectTarget } from "./python-names.ts";
import { faultOfName } from "./plan.ts";
import { isOfOne } from "./source-error.ts";
import { areSame } from "./sums.ts";

/** What a plan is made of. */
export interface ProjectPlanning {
  kind: string;
  into: string;
  source: ProjectSource;
  /** The indexes, or single projects of one, that are to come; undefined for all. */
  names: readonly string[] | undefined;
  rest: RestClient;
  here: Here;
  /** Plans images by the names of their repositories; for sources that have such. */
  images?(repos: readonly string[]): Promise<PlanItem[]>;
  /** Is shown how far it is. */
  note(done: number, total: number): void;
}

/** An index with the names of its projects that are to come, or why it cannot come. */
interface Listed {
  index: SourceIndex;
  projects: string[];
  /** Whether others of its projects are not to come. */
  isPart: boolean;
}

/** Reads the source whole. Throws a Failure when it does not answer, or has more than one plan can hold. */
export async function makeProjectPlan(planning: ProjectPlanning): Promise<Plan> {
  const { source, note } = planning;
  const { found, missing } = wantedOf(await source.indexes(), planning.names);
  const listed: Listed[] = [];
  for (const { index, projects } of found) listed.push(await listedOf(planning, index, projects));
  const items = [...missing, ...groupItems(planning, listed)];
  const total = listed.reduce((sum, { projects }) => sum + projects.length, 0);
  let done = 0;
  for (const each of listed.filter(({ index }) => index.fault === undefined)) {
    const own: PlanItem[] = [];
    for await (const read of itemsIn(planning, each)) {
      own.push(...read);
      requireSpace(items.length + own.length);
      note((done += 1), total);
    }
    items.push(...own, ...(await planUpstream(planning, each, own)));
  }
  return packagePlan(planning, items, ["file", "version", "maven-file"]);
}

/** The indexes that the names say, each with those of its projects; what names nothing that is there is an item. */
function wantedOf(
  indexes: readonly SourceIndex[],
  names: readonly string[] | undefined,
): { found: { index: SourceIndex; projects?: string[] }[]; missing: PlanItem[] } {
  const sorted = indexes.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  if (names === undefined) return { found: sorted.map((index) => ({ index })), missing: [] };
  const wanted = new Map<string, string[] | undefined>();
  const missing: PlanItem[] = [];
  for (const name of names) {
    const index = sorted.find((each) => name === each.name || name.startsWith(`${each.name}/`));
    if (index === undefined) missing.push(cannot("group", name, "is not there"));
    else if (name === index.name) wanted.set(name, undefined);
    else if (!wanted.has(index.name) || wanted.get(index.name) !== undefined)
      wanted.set(index.name, [...(wanted.get(index.name) ?? []), name.slice(index.name.length + 1)]);
  }
  const found = sorted.flatMap((index) => {
    if (!wanted.has(index.name)) return [];
    const projects = wanted.get(index.name);
    return [{ index, ...(projects !== undefined && { projects }) }];
  });
  return { found, missing };
}

/** Lists the projects of an index, unless they are named. One that is no path here, or cannot be read, cannot come. */
async function listedOf({ source }: ProjectPlanning, index: SourceIndex, named?: string[]): Promise<Listed> {
  const fault = index.fault ?? faultOfName(`${index.name}/project`);
  if (fault !== undefined) return { index: { ...index, fault }, projects: [], isPart: false };
  if (index.holds === "nothing") return { index, projects: [], isPart: false };
  try {
    const projects = named ?? (await namesIn(source, index));
    return { index, projects: projects.toSorted(), isPart: named !== undefined };
  } catch (error) {
    if (!isOfOne(error)) throw error;
    return { index: { ...index, fault: error.message }, projects: [], isPart: false };
  }
}

function groupItems({ into, here }: ProjectPlanning, listed: readonly Listed[]): PlanItem[] {
  const notes = new Map<string, string>();
  const faulty: PlanItem[] = [];
  for (const { index } of listed)
    if (index.fault !== undefined) faulty.push(cannot("group", index.name, index.fault));
    else
      for (const group of [...groupsAbove(index.name), index.name])
        if (!notes.get(group)) notes.set(group, group === index.name ? index.note : "");
  const groups = [...notes].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return [
    ...groups.map(([source, why]): PlanItem => {
      const target = `${into}/${source}`;
      return {
        kind: "group",
        source,
        target,
        action: here.groups.has(target) ? "same" : "create",
        why: why.slice(0, MAX_WHY),
      };
    }),
    ...faulty,
  ];
}

/** The names of what an index holds. */
async function namesIn(source: ProjectSource, { name, holds }: SourceIndex): Promise<string[]> {
  if (holds === "packages") return (await source.packages?.(name).names()) ?? [];
  if (holds === "images") return (await source.images?.(name)) ?? [];
  if (holds === "artifacts") return ((await source.artifacts?.(name)) ?? []).map((artifact) => artifact.name);
  return source.projects(name);
}

/** The items of what an index holds, one by one. */
async function* itemsIn(planning: ProjectPlanning, listed: Listed): AsyncGenerator<PlanItem[]> {
  const { holds } = listed.index;
  if (holds === "packages") yield* packageItems(planning, listed);
  else if (holds === "artifacts") yield* artifactItems(planning, listed);
  else if (holds === "images") yield* imageItems(planning, listed);
  else yield* projectItems(planning, listed);
}

/** The items of images; that of the group of their index is there already. */
async function* imageItems({ images }: ProjectPlanning, { index, projects }: Listed): AsyncGenerator<PlanItem[]> {
  const items = (await images?.(projects.map((name) => `${index.name}/${name}`))) ?? [];
  yield items.filter(({ kind, source }) => kind !== "group" || source !== index.name);
}

async function* packageItems(planning: ProjectPlanning, { index, projects }: Listed): AsyncGenerator<PlanItem[]> {
  const { rest, into, here } = planning;
  const source = planning.source.packages?.(index.name);
  if (source === undefined) return;
  const group = here.groups.get(`${into}/${index.name}`);
  const uids = group === undefined ? new Map<string, string>() : await packagesHere(rest, group);
  const place = { rest, into, index: index.name, source };
  const read = async (name: string): Promise<PlanItem[]> => (await readPackage(place, name, uids.get(name))).items;
  yield* inParallel(projects, read);
}

async function* artifactItems(planning: ProjectPlanning, { index, projects }: Listed): AsyncGenerator<PlanItem[]> {
  const { rest, into, here, source } = planning;
  const group = here.groups.get(`${into}/${index.name}`);
  const uids = group === undefined ? new Map<string, string>() : await mavenHere(rest, group);
  const place = { rest, into, index: index.name };
  const found = new Map((await source.artifacts?.(index.name))?.map((artifact) => [artifact.name, artifact]));
  const read = async (name: string): Promise<PlanItem[]> => {
    const artifact = found.get(name);
    if (artifact === undefined) return [cannot("maven-artifact", `${index.name}/${name}`, "is not there")];
    return await readArtifact(place, artifact, uids.get(name));
  };
  yield* inParallel(projects, read);
}

/** The items of an index's projects, project by project. */
async function* projectItems(planning: ProjectPlanning, { index, projects }: Listed): AsyncGenerator<PlanItem[]> {
  const { rest, into, here } = planning;
  const group = here.groups.get(`${into}/${index.name}`);
  const uids = group === undefined ? new Map<string, string>() : await projectsHere(rest, group);
  const spelled = new Map<string, string>();
  for (const name of projects) if (!spelled.has(pypiName(name))) spelled.set(pypiName(name), name);
  const read = async (name: string): Promise<PlanItem[]> => {
    const source = `${index.name}/${name}`;
    const first = spelled.get(pypiName(name));
    const fault = faultOfProject(name);
    if (fault !== undefined) return [cannot("project", source, fault)];
    if (first !== undefined && first !== name)
      return [cannot("project", source, `is ${pypiName(name)} here, as ${first} is, which comes`)];
    try {
      const found = await planning.source.read(index.name, name);
      const ours = await projectHere(rest, { group: `${into}/${index.name}`, name, uid: uids.get(pypiName(name)) });
      return itemsOf(into, { index: index.name, name }, found, ours);
    } catch (error) {
      if (!isOfOne(error) && !(error instanceof ItemFailure)) throw error;
      return [cannot("project", source, error.message)];
    }
  };
  yield* inParallel(projects, read);
}

function itemsOf(
  into: string,
  { index, name }: { index: string; name: string },
  { files, left }: SourceProject,
  here: ProjectHere,
): PlanItem[] {
  const source = `${index}/${name}`;
  const items = files.map((file) => fileItem(into, { index, project: name, file: file.name }, file, { files, here }));
  const why = left.length === 0 ? "" : `not read: ${left.join(", ")}`;
  if (items.every(({ action }) => action === "cannot"))
    return [
      cannot("project", source, [`none of its ${files.length} files can come`, why].filter(Boolean).join("; ")),
      ...items,
    ];
  const isSame = items.every(({ action }) => action !== "create");
  const action: Action = here.versions.size === 0 ? "create" : isSame ? "same" : "update";
  return [
    { kind: "project", source, target: projectTarget(into, { index, project: name, file: "" }), action, why },
    ...items,
  ];
}

function fileItem(
  into: string,
  place: { index: string; project: string; file: string },
  { name, version, sums, time, yanked, fault }: SourceFile,
  { files, here }: { files: readonly SourceFile[]; here: ProjectHere },
): PlanItem {
  const source = `${place.index}/${place.project}/${name}`;
  const [sum] = sums;
  if (fault !== undefined || sum === undefined)
    return cannot("file", source, fault ?? "the source says no SHA-256 of it");
  const ours = fileHere(here, name, version);
  const isSame = ours && areSame(ours.sums, sums);
  if (ours !== undefined && isSame !== true)
    return cannot(
      "file",
      source,
      isSame === false ? "is here with other bytes" : "is here, and no sum of it can be compared",
    );
  const isWhole = files.every((file) => file.version !== version || file.yanked !== undefined);
  const why = [
    ...(yanked === undefined
      ? []
      : [isWhole ? "yanked there" : "yanked there, which does not come: other files of its version are not"]),
    ...(time === undefined ? ["the source does not say when it was published: counts as published when it comes"] : []),
  ].join("; ");
  const action = ours === undefined ? "create" : "same";
  return {
    kind: "file",
    source,
    target: projectTarget(into, place),
    action,
    why,
    sum,
    version,
    ...(time && { time }),
    ...(yanked !== undefined && isWhole && { yanked }),
  };
}

function cannot(kind: PlanItem["kind"], source: string, why: string): PlanItem {
  return { kind, source: source.slice(0, 1_000), target: "", action: "cannot", why: why.slice(0, 1_000) };
}
