// Moves the Maven artifacts of a repository: each file with its bytes and its time.
import { forItem } from "./apply-context.ts";
import { ItemFailure } from "./item-failure.ts";
import { mavenFilePath, mavenHere, mavenSumHere, mavenVersionsHere } from "./maven-here.ts";
import { mavenItemOf, mavenPlaceOf } from "./maven-names.ts";
import { inParallel } from "./parallel.ts";
import type { Plan, PlanItem } from "./plan.ts";
import type { ProjectApplying } from "./project-context.ts";
import type { SourceArtifact, SourceMavenFile } from "./project-source.ts";
import { publish } from "./publish.ts";
import { ofItem } from "./source-error.ts";
import { haveSums } from "./sums.ts";

// Each holds a file in memory.
const ARTIFACTS_AT_ONCE = 3;

/** An artifact of a plan with its files, none of which cannot come. */
export interface PlannedArtifact {
  item: PlanItem;
  files: PlanItem[];
}

/** The artifacts of a plan that can come, with their files, by their repositories. */
export function artifactsOf({ items }: Plan): Map<string, PlannedArtifact[]> {
  const artifacts = new Map<string, PlannedArtifact>();
  for (const item of items)
    if (item.kind === "maven-artifact" && item.action !== "cannot") artifacts.set(item.source, { item, files: [] });
  for (const item of items) {
    if (item.kind !== "maven-file" || item.action === "cannot") continue;
    const { index, rest } = mavenItemOf(item);
    artifacts.get(`${index}/${mavenPlaceOf(rest)?.artifact ?? ""}`)?.files.push(item);
  }
  return Map.groupBy(artifacts.values(), ({ item }) => mavenItemOf(item).index);
}

/** Moves artifacts into the group of their repository. `ended` is called after each. */
export async function moveArtifacts(
  applying: ProjectApplying,
  index: string,
  artifacts: readonly PlannedArtifact[],
  ended: () => void,
): Promise<void> {
  const { plan, rest, here, source, results } = applying;
  const group = here.groups.get(`${plan.into}/${index}`);
  if (group === undefined) {
    for (const { item, files } of artifacts)
      for (const each of [item, ...files]) results.fail(each, "its group is not there");
    return;
  }
  const uids = await mavenHere(rest, group);
  // The source is asked only when something is to come.
  let listed: Promise<Map<string, SourceArtifact>> | undefined;
  const found = (): Promise<Map<string, SourceArtifact>> =>
    (listed ??= (async () => new Map((await source.artifacts?.(index))?.map((each) => [each.name, each])))());
  const move = (planned: PlannedArtifact): Promise<void> => moveArtifact(applying, planned, { index, uids, found });
  for await (const _ of inParallel(artifacts, move, ARTIFACTS_AT_ONCE)) ended();
}

/** What moving an artifact takes to know of its repository. */
interface Repository {
  index: string;
  /** The uids of the artifacts in its group here, by name. */
  uids: ReadonlyMap<string, string>;
  /** The artifacts there, by name. */
  found(): Promise<Map<string, SourceArtifact>>;
}

async function moveArtifact(
  applying: ProjectApplying,
  { item, files }: PlannedArtifact,
  { index, uids, found }: Repository,
): Promise<void> {
  const { plan, rest, results } = applying;
  const group = `${plan.into}/${index}`;
  const { rest: name } = mavenItemOf(item);
  await forItem(results, item, async () => {
    const versions = await mavenVersionsHere(rest, uids.get(name));
    let published = 0;
    for (const file of pomsLast(files)) {
      const moved = await forItem(results, file, async () => {
        const { rest: path } = mavenItemOf(file);
        const isVersionHere = versions.has(mavenPlaceOf(path)?.version ?? "");
        const ours = isVersionHere ? await mavenSumHere(rest, { group, path }, file.sum ?? "") : undefined;
        if (ours !== undefined && ours !== file.sum) throw new ItemFailure("is here with other bytes");
        if (ours !== undefined) return void results.add(file, "same");
        const there = (await ofItem(found)).get(name)?.files.find((each) => each.path === path);
        return await moveFile(applying, { group, path }, file, there);
      });
      if (moved === true) published += 1;
    }
    const isAny = files.some((file) => !results.isFailed(file));
    if (files.length > 0 && !isAny) results.fail(item, "none of its files is here");
    else results.add(item, files.length === 0 ? "left" : published > 0 ? "done" : "same");
  });
  if (results.isFailed(item)) for (const file of files) results.add(file, "failed", "its artifact failed");
}

/** A version without its POM is taken by nobody: so nobody gets half of one. */
function pomsLast(files: readonly PlanItem[]): PlanItem[] {
  const isPom = ({ source }: PlanItem): boolean => source.endsWith(".pom");
  return [...files.filter((file) => !isPom(file)), ...files.filter(isPom)];
}

/** Publishes a file. Answers false when its version was removed here. */
async function moveFile(
  { rest, source, results }: ProjectApplying,
  place: { group: string; path: string },
  item: PlanItem,
  there: SourceMavenFile | undefined,
): Promise<boolean> {
  const { sum = "", time } = item;
  if (there === undefined) throw new ItemFailure("is no longer there");
  if (there.fault !== undefined) throw new ItemFailure(there.fault);
  if (!there.sums.includes(sum)) throw new ItemFailure("has other bytes there than when the plan was made");
  const chunks = await ofItem(() => source.file(there.url));
  if (!haveSums(chunks, there.sums)) throw new ItemFailure("the source sends other bytes than its sums say");
  const rejection = await publish(rest, mavenFilePath(place.group, place.path), {
    method: "PUT",
    headers: { "content-type": "application/octet-stream", ...(time && { "moorage-publish-time": time }) },
    bodyOf: () => ReadableStream.from(chunks) as ReadableStream<Uint8Array>,
  });
  if (rejection !== undefined && !/was removed/.test(rejection.error.message)) throw rejection.error;
  results.add(
    item,
    rejection === undefined ? "done" : "kept",
    rejection === undefined ? "" : "its version was removed here",
  );
  return rejection === undefined;
}
