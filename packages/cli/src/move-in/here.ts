// What is here already, below the group that a registry moves into.
import { objectIn, objectsIn, textIn } from "../api/json-fields.ts";
import { ApiFailure } from "../api/failure.ts";
import { parentOf } from "../api/name-kinds.ts";
import type { JsonObject, RestClient } from "../api/rest.ts";

/** A repo here. */
export interface RepoHere {
  uid: string;
  /** Its `syncConfig`; empty when it follows nothing. */
  sync: JsonObject;
}

/** The groups and repos at and below a group, by their paths. */
export interface Here {
  groups: Map<string, string>;
  repos: Map<string, RepoHere>;
}

const PAGE_SIZE = 200;
const CONFLICT = 409;

/** Reads what the caller sees below the group, whose path is given. */
export async function readHere(rest: RestClient, uid: string, path: string): Promise<Here> {
  const named = new Map<string, JsonObject>();
  const query = { "uidp.descendants_of": uid };
  for await (const group of rest.list("/iam/v2/groups", "groups", { query, pageSize: PAGE_SIZE }))
    named.set(textIn(group, "uid"), group);
  const paths = new Map([[uid, path]]);
  const pathOf = (group: string): string | undefined => {
    const known = paths.get(group);
    if (known !== undefined || group.length <= uid.length) return known;
    const above = pathOf(parentOf(group));
    const name = textIn(named.get(group), "name");
    if (above === undefined || name === "") return undefined;
    paths.set(group, `${above}/${name}`);
    return paths.get(group);
  };
  const groups = new Map([[path, uid]]);
  for (const group of named.keys()) {
    const at = pathOf(group);
    if (at !== undefined) groups.set(at, group);
  }
  const repos = new Map<string, RepoHere>();
  for await (const repo of rest.list("/registry/v2/repos", "repos", { query, pageSize: PAGE_SIZE })) {
    const repoUid = textIn(repo, "uid");
    const above = pathOf(parentOf(repoUid));
    if (above !== undefined)
      repos.set(`${above}/${textIn(repo, "name")}`, { uid: repoUid, sync: objectIn(repo, "syncConfig") });
  }
  return { groups, repos };
}

/**
 * Makes a group or repo, or answers the one of that name that is there by now: a command that was killed may have sent
 * the same request a moment ago. `path`: of the resources in REST; `field`: that of the list in an answer.
 */
export async function makeOrFind(
  rest: RestClient,
  { path, field, parent }: { path: string; field: string; parent: string },
  body: JsonObject & { name: string },
): Promise<JsonObject> {
  try {
    return await rest.call("POST", `${path}/${parent}`, { body });
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.httpStatus !== CONFLICT) throw error;
    const query = { "uidp.children_of": parent, name: body.name, page_size: 1 };
    const [found] = objectsIn(await rest.call("GET", path, { query }), field);
    if (found === undefined) throw error;
    return found;
  }
}

/** The tags of a repo here, by name. */
export async function tagRowsHere(rest: RestClient, repo: string): Promise<Map<string, JsonObject>> {
  const tags = new Map<string, JsonObject>();
  const query = { "uidp.children_of": repo };
  for await (const tag of rest.list("/registry/v2/tags", "tags", { query, pageSize: PAGE_SIZE }))
    tags.set(textIn(tag, "name"), tag);
  return tags;
}

/** The digests of a repo's tags here, by name. */
export async function tagsHere(rest: RestClient, repo: string): Promise<Map<string, string>> {
  return digestsOfTags(await tagRowsHere(rest, repo));
}

/** The digests of tags, by name. */
export function digestsOfTags(tags: ReadonlyMap<string, JsonObject>): Map<string, string> {
  return new Map([...tags].map(([name, tag]) => [name, textIn(tag, "digest")]));
}

/** Why a tag moved last here: the reason of its last move; empty when it never was here. */
export async function lastReason(rest: RestClient, repo: string, tag: string): Promise<string> {
  const path = `/registry/v2/repos/${repo}/tags/${encodeURIComponent(tag)}/moves`;
  const [last] = objectsIn(await rest.call("GET", path, { query: { page_size: 1 } }), "moves");
  return textIn(last, "reason");
}
