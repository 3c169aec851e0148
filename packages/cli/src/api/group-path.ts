// Groups by their paths, also where the caller sees none of the groups above.
import { objectsIn } from "./json-fields.ts";
import { parentOf } from "./name-kinds.ts";
import type { Query, RestClient } from "./rest.ts";

const SEARCH_PAGES = 5;
const PAGE_SIZE = 200;

/** The uid of the group with this path, or which part of the path is not there, below which group. */
export type GroupFound = { uid: string } | { missing: string; name: string; parent: string };

/**
 * Looks a group up by its path. Where the caller does not see the organization, a path may begin with the outermost
 * group that it sees.
 */
export async function findGroup(rest: Pick<RestClient, "call">, path: string): Promise<GroupFound> {
  const [first = "", ...others] = path.split("/");
  let parent = (await childOf(rest, first, "")) ?? (await outermost(rest, first));
  if (parent === undefined) {
    const inside = await searchRepos(rest, `${path}/`, (name) => name.startsWith(`${path}/`));
    const uid = inside?.uid
      .split("/")
      .slice(0, others.length + 1)
      .join("/");
    return uid === undefined ? { missing: first, name: first, parent: "" } : { uid };
  }
  let walked = first;
  for (const name of others) {
    walked = `${walked}/${name}`;
    const uid: string | undefined = await childOf(rest, name, parent);
    if (uid === undefined) return { missing: walked, name, parent };
    parent = uid;
  }
  return { uid: parent };
}

async function childOf(rest: Pick<RestClient, "call">, name: string, parent: string): Promise<string | undefined> {
  if (name === "") return undefined;
  const [found] = await listOnce(rest, "/iam/v2/groups", "groups", { name, ...below(parent), page_size: 1 });
  return found;
}

/** The only group of that name whose parent the caller does not see. */
async function outermost(rest: Pick<RestClient, "call">, name: string): Promise<string | undefined> {
  if (name === "") return undefined;
  const named = await listOnce(rest, "/iam/v2/groups", "groups", { name, page_size: PAGE_SIZE });
  const parents = [...new Set(named.map(parentOf))].filter((uid) => uid !== "");
  if (parents.length === 0) return undefined;
  const seen = await listOnce(rest, "/iam/v2/groups", "groups", { "uidp.ids": parents.slice(0, 40), page_size: 40 });
  const [only, second] = named.filter((uid) => !seen.includes(parentOf(uid)));
  return second === undefined ? only : undefined;
}

/** A repo by the path of its image, which the search answers whatever groups the caller sees. */
export async function searchRepos(
  rest: Pick<RestClient, "call">,
  query: string,
  accept: (name: string) => boolean,
): Promise<{ uid: string; name: string } | undefined> {
  let token = "";
  for (let page = 0; page < SEARCH_PAGES; page += 1) {
    if (query.length < 2 || query.length > 200) return undefined;
    const answer = await rest.call("GET", "/registry/v2/search", {
      query: { query, kinds: ["REPO"], page_size: PAGE_SIZE, ...(token && { page_token: token }) },
    });
    for (const { repoUid, name } of objectsIn(answer, "results"))
      if (accept(String(name))) return { uid: String(repoUid), name: String(name) };
    token = String(answer["nextPageToken"] ?? "");
    if (token === "") return undefined;
  }
  return undefined;
}

/** The filter for the direct children of a resource, or for what has no parent. */
export function below(parent: string): Query {
  return parent === "" ? { "uidp.in_root": true } : { "uidp.children_of": parent };
}

async function listOnce(rest: Pick<RestClient, "call">, path: string, field: string, query: Query): Promise<string[]> {
  return objectsIn(await rest.call("GET", path, { query }), field).map(({ uid }) => String(uid));
}
