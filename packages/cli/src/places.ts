// Groups and repos by their names, as people write them in the names of images.
import { GroupsService, ReposService } from "@moorage/api";
import type { Connection } from "./connection.ts";

const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/;

/** The uid of a group by its uid or its path, such as `acme/team`. Throws an Error that names what is not there. */
export async function groupAt({ ask }: Pick<Connection, "ask">, place: string): Promise<string> {
  if (UID.test(place)) return place;
  let parent = "";
  for (const name of place.split("/")) {
    const uidp = parent === "" ? { inRoot: true } : { childrenOf: parent };
    const { groups } = await ask(GroupsService.method.listGroups, { name, uidp, pageSize: 1 });
    const [found] = name === "" ? [] : groups;
    if (found === undefined) throw new Error(`NOT_FOUND: there is no group ${place} that you may see`);
    parent = found.uid;
  }
  return parent;
}

/** The uid of a repo by its uid or its path, such as `acme/team/app`. Throws an Error that names what is not there. */
export async function repoAt(connection: Pick<Connection, "ask">, place: string): Promise<string> {
  if (UID.test(place)) return place;
  const [, path, name] = /^(.+)\/([^/]+)$/.exec(place) ?? [];
  if (path === undefined || name === undefined)
    throw new Error(`--repo: must look like acme/app or be a uid, not ${place}`);
  const childrenOf = await groupAt(connection, path);
  const { repos } = await connection.ask(ReposService.method.listRepos, { name, uidp: { childrenOf }, pageSize: 1 });
  const [found] = repos;
  if (found === undefined) throw new Error(`NOT_FOUND: there is no repo ${place} that you may see: push to it first`);
  return found.uid;
}
