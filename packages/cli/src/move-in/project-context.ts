// What the steps of applying a plan of Python projects share.
import type { RestClient } from "../api/rest.ts";
import type { Here } from "./here.ts";
import type { Plan, PlanItem } from "./plan.ts";
import type { ProjectSource } from "./project-source.ts";
import { projectPlaceOf } from "./python-names.ts";
import type { Results } from "./results.ts";

/** A plan of projects that is being applied. */
export interface ProjectApplying {
  plan: Plan;
  rest: RestClient;
  here: Here;
  source: ProjectSource;
  results: Results;
}

/** A project of a plan with its files, none of which cannot come. */
export interface PlannedProject {
  item: PlanItem;
  files: PlanItem[];
  /** The path of its group here. */
  group: string;
}

/** The projects of a plan that can come, with their files. */
export function projectsOf({ items, into }: Plan): PlannedProject[] {
  const projects = new Map<string, PlannedProject>();
  for (const item of items)
    if (item.kind === "project" && item.action !== "cannot")
      projects.set(item.source, { item, files: [], group: `${into}/${projectPlaceOf(item).index}` });
  for (const item of items)
    if (item.kind === "file" && item.action !== "cannot")
      projects.get(item.source.slice(0, item.source.lastIndexOf("/")))?.files.push(item);
  return [...projects.values()];
}
