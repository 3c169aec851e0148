// Teams of Quay's organizations. Quay says neither an address nor a subject of people who have an account there, so
// only who was invited by an address, and teams that follow a group of OpenID Connect, can come.
// Source: Quay's endpoints/api/organization.py and endpoints/api/team.py.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { SourceClient } from "./client.ts";
import { addressIn, type SourceMember } from "./model.ts";
import { isOfOne, SourceError } from "./source-error.ts";

type Fields = Record<string, unknown>;

const API = "/api/v1/organization";
const MAX_TEAMS = 10_000;
const MAX_NAME = 255;

/** The members of the teams of these repositories' organizations. */
export async function* quayMembers(client: SourceClient, repos: readonly string[]): AsyncGenerator<SourceMember> {
  for (const namespace of new Set(repos.map((repo) => repo.slice(0, repo.indexOf("/"))))) {
    const path = `${API}/${encodeURIComponent(namespace)}`;
    const base = { kind: "group" as const, below: namespace, roles: [] };
    try {
      const organization = await client.json(path);
      const teams = isObject(organization) ? organization["teams"] : undefined;
      if (!isObject(teams)) throw new SourceError("the source has no teams there: is it an organization?");
      const listed = Object.entries(teams);
      if (listed.length > MAX_TEAMS) throw new SourceError(`has more than ${MAX_TEAMS} teams`);
      for (const [name, team] of listed) {
        const source = `${namespace}: team ${name.slice(0, MAX_NAME).toWellFormed()}`;
        const role = isObject(team) ? team["role"] : undefined;
        if (role !== "admin") yield { ...base, source, fault: "gives rights on single repositories, if any" };
        else yield* membersOf(client, `${path}/team/${encodeURIComponent(name)}/members`, { ...base, source });
      }
    } catch (error) {
      if (!isOfOne(error)) throw error;
      yield { ...base, source: `${namespace}: teams`, fault: error.message };
    }
  }
}

/** The members of a team that administers its organization: they are owners here. */
async function* membersOf(
  client: SourceClient,
  path: string,
  team: Pick<SourceMember, "source" | "below">,
): AsyncGenerator<SourceMember> {
  const { source, below } = team;
  const group = { kind: "group" as const, source, below, roles: ["owner"] as const };
  try {
    const body = await client.json(path);
    if (!isObject(body) || !isList(body["members"])) throw new SourceError("the source has no list of its members");
    const { synced } = body;
    if (synced !== undefined && synced !== null) return yield { ...group, ...syncedOf(synced) };
    for (const [at, member] of body["members"].entries()) yield memberOf(isObject(member) ? member : {}, at, team);
  } catch (error) {
    if (!isOfOne(error)) throw error;
    yield { ...group, fault: error.message };
  }
}

function syncedOf(synced: unknown): Partial<SourceMember> {
  const { service, config } = isObject(synced) ? synced : {};
  const name = isObject(config) ? config["group_name"] : undefined;
  const isName = typeof name === "string" && name !== "" && name.length <= MAX_NAME && !/\p{C}/u.test(name);
  return service === "oidc" && isName
    ? { externalGroup: name }
    : { fault: "follows something other than a group of OpenID Connect" };
}

function memberOf(member: Fields, at: number, { source, below }: Pick<SourceMember, "source" | "below">): SourceMember {
  const { name, is_robot: isRobot } = member;
  const label = typeof name === "string" && name !== "" ? name.slice(0, MAX_NAME).toWellFormed() : `member ${at + 1}`;
  const email = member["kind"] === "invite" ? addressIn(member["email"]) : undefined;
  const base = { kind: "person" as const, source: `${source}, ${email ?? label}`, below, roles: ["owner"] as const };
  if (email !== undefined) return { ...base, email };
  return {
    ...base,
    fault: isRobot === true ? "is a robot, which owns nothing here" : "Quay says neither its address nor its subject",
  };
}
