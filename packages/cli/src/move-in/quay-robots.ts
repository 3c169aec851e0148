// Robots of Quay's organizations, and what they may do with repositories. Source: Quay's endpoints/api/robot.py.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { SourceClient } from "./client.ts";
import type { ROBOT_ROLES, SourceRobot } from "./model.ts";
import { isOfOne, SourceError } from "./source-error.ts";

type Fields = Record<string, unknown>;

const API = "/api/v1/organization";
const MAX_ROBOTS = 10_000;
const NAME = /^[a-z0-9_.-]+\+[a-z0-9_.-]+$/;
const ROLES: Readonly<Record<string, (typeof ROBOT_ROLES)[number]>> = {
  read: "registry.pull",
  write: "registry.push",
  admin: "registry.push",
};

/** The robots of the organizations of these repositories: one for each repository that a robot has a permission on. */
export async function* quayRobots(client: SourceClient, repos: readonly string[]): AsyncGenerator<SourceRobot> {
  const come = new Set(repos);
  for (const namespace of new Set(repos.map((repo) => repo.slice(0, repo.indexOf("/"))))) {
    const path = `${API}/${encodeURIComponent(namespace)}/robots`;
    const fault = (source: string, why: string): SourceRobot => ({ source, below: namespace, fault: why });
    try {
      // Otherwise their passwords would be in the answer.
      const robots = await listIn(client, `${path}?permissions=true&token=false`, "robots");
      if (robots.length > MAX_ROBOTS) throw new SourceError(`has more than ${MAX_ROBOTS} robots`);
      for (const [at, robot] of robots.entries()) {
        const name = typeof robot["name"] === "string" ? robot["name"].slice(0, 255).toWellFormed() : "";
        if (!NAME.test(name) || !name.startsWith(`${namespace}+`)) {
          yield fault(
            `${namespace}: ${name === "" ? `robot ${at + 1}` : name}`,
            "has a name that no robot of the organization can have",
          );
          continue;
        }
        if (isList(robot["teams"]) && robot["teams"].length > 0)
          yield fault(`${name}, by its teams`, "rights by teams do not come");
        const permissions = `${path}/${encodeURIComponent(name.slice(namespace.length + 1))}/permissions`;
        try {
          for (const permission of await listIn(client, permissions, "permissions"))
            yield permitted(namespace, name, permission, come);
        } catch (error) {
          if (!isOfOne(error)) throw error;
          yield fault(name, error.message);
        }
      }
    } catch (error) {
      if (!isOfOne(error)) throw error;
      yield fault(`${namespace}: robots`, error.message);
    }
  }
}

function permitted(
  namespace: string,
  robot: string,
  { repository, role }: Fields,
  come: ReadonlySet<string>,
): SourceRobot {
  const name = isObject(repository) && typeof repository["name"] === "string" ? repository["name"].slice(0, 255) : "";
  const base = { source: `${robot}: ${name.toWellFormed()}`, below: `${namespace}/${name}`, isImage: true };
  if (!come.has(base.below)) return { ...base, fault: "is for a repository that does not come" };
  const known = typeof role === "string" && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  return known === undefined ? { ...base, fault: "has a permission that is not known here" } : { ...base, role: known };
}

async function listIn(client: SourceClient, path: string, field: string): Promise<Fields[]> {
  const body = await client.json(path);
  if (body === undefined) throw new SourceError(`the source has no ${field} there: is it an organization?`);
  const list = isObject(body) ? body[field] : undefined;
  if (!isList(list)) throw new SourceError(`the source has no list of ${field}`);
  return list.map((each) => (isObject(each) ? each : {}));
}
