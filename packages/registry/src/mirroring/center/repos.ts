import { ancestorsOf, isUid, parentOf } from "@moorage/kernel/lib/uid";
import { createTurns } from "@moorage/kernel/lib/turns";
import { UpstreamError } from "../errors.ts";
import type { ApiList, CenterClient } from "./client.ts";

/** A repo of a Moorage. */
export interface CenterRepo {
  uid: string;
  /** The path by which it is pulled. */
  path: string;
}

const MOST = 200_000;
const PAGE = 200;
// Groups may have names that a path cannot contain, such as with spaces. Nothing below those can be pulled.
const NAME = /^[a-z0-9 ._-]{1,255}$/;
const GROUPS: ApiList = { path: "/iam/v2/groups", field: "groups", most: MOST, pageSize: PAGE };
const REPOS: ApiList = { path: "/registry/v2/repos", field: "repos", most: MOST, pageSize: PAGE };

/**
 * The repos of a Moorage that the credential may list. Throws an UpstreamError, also when there are repos in groups
 * that it may not list: their paths are not known.
 */
export async function centerRepos(client: CenterClient, signal: AbortSignal): Promise<CenterRepo[]> {
  const groups = await namesOf(client, GROUPS, signal);
  const repos = await namesOf(client, REPOS, signal);
  const turn = createTurns();
  const found: CenterRepo[] = [];
  let hidden = 0;
  for (const [uid, name] of repos) {
    const above = ancestorsOf(uid).map((each) => groups.get(each));
    if (above.includes(undefined) || parentOf(uid) === "") hidden += 1;
    else found.push({ uid, path: [...above, name].join("/") });
    await turn();
  }
  if (hidden > 0) throw new UpstreamError("refused", `${hidden} of its repos are in groups that we may not list`);
  return found;
}

async function namesOf(client: CenterClient, list: ApiList, signal: AbortSignal): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const turn = createTurns();
  for await (const page of client.pages(list, signal))
    for (const { uid, name } of page) {
      if (typeof uid !== "string" || !isUid(uid.slice(0, 4_000)) || typeof name !== "string" || !NAME.test(name))
        throw new UpstreamError("wrong", `its API lists ${list.field} that have no uid, or no name`);
      found.set(uid, name);
      await turn();
    }
  return found;
}
