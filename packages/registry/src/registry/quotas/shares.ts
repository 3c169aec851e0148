import { setImmediate } from "node:timers/promises";
import { type Database, select } from "@moorage/kernel/store";
import { repoContent } from "./reach.ts";

/** What parts of the content of a group are, in bytes, each content counted once. The parts may overlap. */
export interface ContentShares {
  /** What a tag once pointed to or needed, and no tag of the group does now. */
  historyBytes: number;
  /** What only images and libraries have that came from an upstream when they were pulled. */
  cachedBytes: number;
}

interface Content {
  size: number;
  isTagged: boolean;
  isPast: boolean;
  isOwn: boolean;
}

/** The most contents of a group, and rows of one repo, that are kept in memory. */
export interface ShareLimits {
  contents: number;
  repoRows: number;
}

const LIMITS: ShareLimits = { contents: 300_000, repoRows: 200_000 };
const PAGE = 1_000;
/** The number of the origin of versions that came from an upstream. */
const FROM_UPSTREAM = 2;

const REPOS = `select r.uid, case when o.repo is null then 0 else 1 end as cached from repos as r
  left join upstream_repos as o on o.repo = r.uid where r.uid > ? and r.uid < ? order by r.uid limit ${PAGE}`;
// A file of an artifact as a whole came as its versions did.
const FILES = `select f.artifact, f.name, f.digest, f.size, case
    when f.version = '' then (select min(o.origin) from artifact_versions as o where o.parent = f.artifact)
    else (select v.origin from artifact_versions as v where v.uid = f.version) end as origin
  from artifact_files as f where f.artifact < ? and (f.artifact, f.name) > (?, ?) order by f.artifact, f.name limit ${PAGE}`;

/**
 * Measures what a group has with all below it, repo by repo, so that requests get their turn: what is written meanwhile
 * may be counted or not. Undefined when it has more than is kept in memory. Rejects with the reason of `signal`.
 */
export async function sharesOf(
  db: Database,
  group: string,
  signal: AbortSignal,
  limits: Partial<ShareLimits> = {},
): Promise<ContentShares | undefined> {
  const { contents: maxContents, repoRows } = { ...LIMITS, ...limits };
  const contents = new Map<string, Content>();
  const [from, to] = [`${group}/`, `${group}0`];
  const add = (digest: string, size: number, { isTagged = false, isPast = false, isOwn = false }): void => {
    const known = contents.get(digest) ?? { size: Number(size), isTagged, isPast, isOwn };
    known.isTagged ||= isTagged;
    known.isPast ||= isPast;
    known.isOwn ||= isOwn;
    contents.set(digest, known);
  };
  const next = async (): Promise<boolean> => {
    await setImmediate();
    signal.throwIfAborted();
    return contents.size <= maxContents;
  };
  for (let after: string | undefined = from; after !== undefined;) {
    const repos: { uid: string; cached: number }[] = await select(db, REPOS, [after, to]);
    for (const { uid, cached } of repos) {
      const found = await repoContent(db, uid, repoRows);
      if (found === undefined) return undefined;
      const isOwn = Number(cached) === 0;
      for (const { digest, size } of found.content)
        add(digest, size, { isTagged: found.tagged.has(digest), isPast: found.past.has(digest), isOwn });
      if (!(await next())) return undefined;
    }
    after = repos.length < PAGE ? undefined : repos.at(-1)?.uid;
  }
  for (let after: readonly [string, string] | undefined = [from, ""]; after !== undefined;) {
    const files: { artifact: string; name: string; digest: string; size: number; origin: number | null }[] =
      await select(db, FILES, [to, ...after]);
    // What is published is needed as it is, as by a tag.
    for (const { digest, size, origin } of files)
      add(digest, size, { isTagged: true, isOwn: Number(origin) !== FROM_UPSTREAM });
    if (!(await next())) return undefined;
    const last = files.at(-1);
    after = last === undefined || files.length < PAGE ? undefined : [last.artifact, last.name];
  }
  const shares = { historyBytes: 0, cachedBytes: 0 };
  for (const { size, isTagged, isPast, isOwn } of contents.values()) {
    if (isPast && !isTagged) shares.historyBytes += size;
    if (!isOwn) shares.cachedBytes += size;
  }
  return shares;
}
