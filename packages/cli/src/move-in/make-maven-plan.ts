// Plans the Maven artifacts of a repository.
import type { RestClient } from "../api/rest.ts";
import { ItemFailure } from "./item-failure.ts";
import { mavenSumHere, mavenVersionsHere } from "./maven-here.ts";
import { faultOfArtifact, faultOfMavenPath, mavenPlaceOf } from "./maven-names.ts";
import type { Action, PlanItem } from "./plan.ts";
import type { SourceArtifact, SourceMavenFile } from "./project-source.ts";
import { isOfOne } from "./source-error.ts";

/** Where an artifact comes from, and where it goes. */
export interface MavenPlace {
  rest: RestClient;
  /** The path of the group that everything goes below. */
  into: string;
  /** The repository, which is a group below it. */
  index: string;
}

/** Plans an artifact with its files. `uid`: of the one of that name here. */
export async function readArtifact(
  place: MavenPlace,
  { name, files }: SourceArtifact,
  uid: string | undefined,
): Promise<PlanItem[]> {
  const { into, index, rest } = place;
  const source = `${index}/${name}`.slice(0, 1_000);
  const fault = faultOfArtifact(name);
  if (fault !== undefined) return [cannot("maven-artifact", source, fault)];
  try {
    const here = await mavenVersionsHere(rest, uid);
    const items: PlanItem[] = [];
    for (const file of files) items.push(await fileItem(place, file, here));
    if (items.every(({ action }) => action === "cannot"))
      return [cannot("maven-artifact", source, `none of its ${files.length} files can come`), ...items];
    const isSame = items.every(({ action }) => action !== "create");
    const action: Action = here.size === 0 ? "create" : isSame ? "same" : "update";
    return [{ kind: "maven-artifact", source, target: `${into}/${source}`, action, why: "" }, ...items];
  } catch (error) {
    if (!isOfOne(error) && !(error instanceof ItemFailure)) throw error;
    return [cannot("maven-artifact", source, error.message)];
  }
}

async function fileItem(
  { into, index, rest }: MavenPlace,
  { path, sums, time, fault }: SourceMavenFile,
  here: ReadonlySet<string>,
): Promise<PlanItem> {
  const source = `${index}/${path}`;
  const [sum] = sums;
  const wrong = fault ?? faultOfMavenPath(path) ?? (sum === undefined ? "the source says no sum of it" : undefined);
  if (wrong !== undefined || sum === undefined) return cannot("maven-file", source, wrong ?? "");
  const isVersionHere = here.has(mavenPlaceOf(path)?.version ?? "");
  const ours = isVersionHere ? await mavenSumHere(rest, { group: `${into}/${index}`, path }, sum) : undefined;
  if (ours !== undefined && ours !== sum) return cannot("maven-file", source, "is here with other bytes");
  const why =
    time === undefined ? "the source does not say when it was published: counts as published when it comes" : "";
  const action = ours === undefined ? "create" : "same";
  return { kind: "maven-file", source, target: `${into}/${source}`, action, why, sum, ...(time && { time }) };
}

function cannot(kind: PlanItem["kind"], source: string, why: string): PlanItem {
  return { kind, source: source.slice(0, 1_000), target: "", action: "cannot", why: why.slice(0, 1_000) };
}
