// The folder of a registry that is made of distribution: docker-registry, Harbor, GitLab before its database.
// Source: distribution/distribution, registry/storage/paths.go.
import { type FolderReader, linkIn } from "./folder-content.ts";
import type { RegistryFiles } from "./registry-files.ts";
import { isDigest, isTag, type Source, type SourceMove, type SourceRepo, type SourceTag } from "./model.ts";
import { SourceError } from "./source-error.ts";

const MAX_NAME = 512;
const MAX_MOVES = 100_000;

/** `names`: the repositories, where not all are to come. `nowMs`: no tag moved later. */
export function folderSource(
  files: RegistryFiles,
  reader: FolderReader,
  { names, nowMs }: { names: readonly string[] | undefined; nowMs: number },
): Source {
  return {
    hasHistory: true,
    leavesBehind: "whatever is no image: accounts, rights, rules; uploads that have not come to their end",
    async *repos() {
      if (names === undefined) yield* reposBelow(files, "");
      else for (const name of names) yield { name };
    },
    async *tags(repo) {
      const reached = new Set<string>();
      for await (const { name, kind } of files.list(`repositories/${repo}/_manifests/tags`))
        if (kind !== "other") yield await tagOf({ files, reader, nowMs, reached }, repo, name);
      for (const digest of await reader.revisions(repo))
        if (!reached.has(digest)) yield { name: `@${digest}`, digest: "", moves: [], fault: "has no tag" };
    },
  };
}

/** The repositories at and below a folder. One that cannot be read ends no other. */
async function* reposBelow(files: RegistryFiles, name: string): AsyncGenerator<SourceRepo> {
  const parts = new Set<string>();
  const below: string[] = [];
  try {
    for await (const entry of files.list(name === "" ? "repositories" : `repositories/${name}`)) {
      const child = name === "" ? entry.name : `${name}/${entry.name}`;
      if (entry.kind === "link") yield { name: child, fault: "is a symbolic link, which is not followed" };
      else if (entry.kind === "folder" && entry.name.startsWith("_")) parts.add(entry.name);
      else if (entry.kind === "folder") below.push(child);
    }
  } catch (error) {
    if (!(error instanceof SourceError) || name === "") throw error;
    yield { name, fault: error.message };
    return;
  }
  if (parts.has("_manifests")) yield { name };
  else if (parts.size > 0)
    yield { name, fault: "has no manifests in the folder: it is empty, or its registry keeps them in a database" };
  for (const child of below.toSorted())
    if (child.length > MAX_NAME) yield { name: child, fault: `its name is longer than ${MAX_NAME} characters` };
    else yield* reposBelow(files, child);
}

interface Reading {
  files: RegistryFiles;
  reader: FolderReader;
  nowMs: number;
  /** The manifests that come with a tag, present or past. */
  reached: Set<string>;
}

async function tagOf(reading: Reading, repo: string, name: string): Promise<SourceTag> {
  const { files, reader, reached } = reading;
  const none = { name, digest: "", moves: [] };
  if (!isTag(name)) return { ...none, fault: "is not a valid tag name" };
  try {
    const path = `repositories/${repo}/_manifests/tags/${name}`;
    const current = await linkIn(files, `${path}/current`);
    if (current === undefined) return { ...none, fault: "points to nothing" };
    const { digest } = current;
    for (const each of (await reader.contentOf(digest, repo)).manifests) reached.add(each.digest);
    const { moves, notes } = await movesOf(reading, path, current);
    const gone = await reachPast(reading, repo, moves);
    if (gone > 0) notes.push(`${gone} of the digests that it had are not there any more`);
    return { name, digest, moves, ...(notes.length > 0 && { note: notes.join("; ") }) };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { ...none, fault: error.message };
  }
}

/** Since when the tag had its digests, by the times of its links: the last time for each. */
async function movesOf(
  { files, nowMs }: Reading,
  path: string,
  current: { digest: string; modifiedMs: number },
): Promise<{ moves: SourceMove[]; notes: string[] }> {
  const times = new Map<string, number>();
  for (const algorithm of ["sha256", "sha512"])
    for await (const { name, kind } of files.list(`${path}/index/${algorithm}`)) {
      if (kind !== "folder" || !isDigest(`${algorithm}:${name}`)) continue;
      const link = await linkIn(files, `${path}/index/${algorithm}/${name}`);
      if (link !== undefined) times.set(link.digest, link.modifiedMs);
      if (times.size > MAX_MOVES) throw new SourceError(`the tag moved more than ${MAX_MOVES} times`);
    }
  const isLate = [...times.values(), current.modifiedMs].some((timeMs) => timeMs > nowMs);
  const past = [...times]
    .filter(([digest]) => digest !== current.digest)
    .map(([digest, timeMs]) => ({ digest, timeMs: timeIn(timeMs, nowMs - 1) }));
  const lastMs = Math.max(timeIn(current.modifiedMs, nowMs), ...past.map(({ timeMs }) => timeMs + 1));
  const moves = [
    ...past.toSorted((one, other) => one.timeMs - other.timeMs),
    { digest: current.digest, timeMs: lastMs },
  ];
  return { moves, notes: isLate ? ["its times in the future come as the present"] : [] };
}

/** A time of a file in whole milliseconds, from 1970 to then. */
function timeIn(timeMs: number, latestMs: number): number {
  return Math.min(Math.max(1, Math.floor(timeMs)), latestMs);
}

/** Notes the manifests of the past. Answers how many digests are not there any more. */
async function reachPast({ reader, reached }: Reading, repo: string, moves: readonly SourceMove[]): Promise<number> {
  let gone = 0;
  for (const { digest } of moves.slice(0, -1)) {
    try {
      for (const each of (await reader.contentOf(digest, repo)).manifests) reached.add(each.digest);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      gone += 1;
    }
  }
  return gone;
}
