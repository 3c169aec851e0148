import { GroupSchema, GroupsService, RepoSchema, ReposService, SearchKind, SearchService } from "@moorage/api/messages";
import { notFound } from "@moorage/kernel/errors";
import { ancestorsOf, isUid, parentOf } from "@moorage/kernel/lib/uid";
import type { CallMethod } from "./method-calls.ts";

/** The methods by which names are looked up, which every tool may call. */
export const NAME_METHODS = [
  GroupsService.method.listGroups,
  ReposService.method.listRepos,
  SearchService.method.search,
] as const;

// So many pages of a search are looked at for one name.
const MAX_PAGES = 10;
const PAGE_SIZE = 200;
const MAX_QUERY = 200;

/** The uid of the group with the path, as `acme/team`, or of a uid itself. Throws NOT_FOUND. */
export async function findGroup(call: CallMethod, path: string): Promise<string> {
  if (isUid(path)) return path;
  const uid = await descend(call, path.split("/"));
  if (uid === undefined) throw notFound(GroupSchema.typeName, path);
  return uid;
}

/**
 * The uid of the repo with the path, as `acme/team/app`, or of a uid itself. Throws NOT_FOUND, also for one that the
 * caller does not see.
 */
export async function findRepo(call: CallMethod, path: string): Promise<string> {
  if (isUid(path)) return path;
  const names = path.split("/");
  const parent = await descend(call, names.slice(0, -1));
  const { repos } =
    parent === undefined
      ? { repos: [] }
      : await call(ReposService.method.listRepos, { uidp: { childrenOf: parent }, name: names.at(-1) ?? "" });
  // Whoever has rights on a part of the path alone does not see the groups above it.
  const uid = repos[0]?.uid ?? (await search(call, path));
  if (uid === undefined) throw notFound(RepoSchema.typeName, path);
  return uid;
}

async function descend(call: CallMethod, names: readonly string[]): Promise<string | undefined> {
  let parent: string | undefined;
  for (const name of names) {
    const uidp = parent === undefined ? { inRoot: true } : { childrenOf: parent };
    const { groups } = await call(GroupsService.method.listGroups, { uidp, name });
    parent = groups[0]?.uid;
    if (parent === undefined) return undefined;
  }
  return parent;
}

async function search(call: CallMethod, path: string): Promise<string | undefined> {
  if (path.length > MAX_QUERY) return undefined;
  let pageToken = "";
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const found = await call(SearchService.method.search, {
      query: path,
      kinds: [SearchKind.REPO],
      pageSize: PAGE_SIZE,
      pageToken,
    });
    const fit = found.results.find(({ name }) => name === path);
    if (fit !== undefined) return fit.repoUid;
    pageToken = found.nextPageToken;
    if (pageToken === "") return undefined;
  }
  return undefined;
}

/**
 * The paths of repos, as `acme/team/app`, by their uids: at most 200 repos. Of a group that the caller does not see
 * there is `…`; a repo that it does not see is missing.
 */
export async function pathsOf(call: CallMethod, repoUids: Iterable<string>): Promise<ReadonlyMap<string, string>> {
  const uids = [...new Set(repoUids)];
  if (uids.length === 0) return new Map();
  const { repos } = await call(ReposService.method.listRepos, { uidp: { ids: uids }, pageSize: PAGE_SIZE });
  const groupUids = [...new Set(repos.flatMap(({ uid }) => ancestorsOf(uid)))];
  const names = new Map<string, string>();
  for (let at = 0; at < groupUids.length; at += PAGE_SIZE) {
    const ids = groupUids.slice(at, at + PAGE_SIZE);
    const { groups } = await call(GroupsService.method.listGroups, { uidp: { ids }, pageSize: PAGE_SIZE });
    for (const { uid, name } of groups) names.set(uid, name);
  }
  return new Map(
    repos.map(({ uid, name }) => {
      const groups: string[] = [];
      for (let group = parentOf(uid); group !== ""; group = parentOf(group)) groups.unshift(names.get(group) ?? "…");
      return [uid, [...groups, name].join("/")];
    }),
  );
}
