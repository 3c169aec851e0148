// Robots of Harbor's projects. Source: Harbor's api/v2.0/swagger.yaml.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { SourceRobot } from "./model.ts";

type Fields = Record<string, unknown>;

// The end of a robot that has none.
const NEVER = -1;

/** What a robot of a project becomes in its group: a pull token, or a push token. */
export function robotOf(project: string, robot: Fields, nowMs: number): SourceRobot {
  const source = typeof robot["name"] === "string" ? robot["name"].slice(0, 255).toWellFormed() : "";
  const fault = (why: string): SourceRobot => ({ source, below: project, fault: why });
  if (source === "") return fault("has no name");
  if (robot["disable"] === true) return fault("is disabled there");
  const end = robot["expires_at"] ?? NEVER;
  if (typeof end !== "number" || (end !== NEVER && !(end > 0 && end < 1e11)))
    return fault("has an end that cannot be read");
  const endMs = end === NEVER ? undefined : end * 1000;
  if (endMs !== undefined && endMs <= nowMs) return fault("has ended there");
  const permissions = listIn(robot, "permissions");
  const access = permissions?.map((each) => listIn(each, "access"));
  if (permissions === undefined || access?.every((each) => each !== undefined) !== true)
    return fault("has permissions that cannot be read");
  if (permissions.some(({ kind, namespace }) => kind !== "project" || namespace !== project))
    return fault("may do something beside its project");
  const [allowed, denied] = [new Set<unknown>(), new Set<unknown>()];
  for (const { resource, action, effect = "allow" } of access.flat()) {
    if (effect !== "allow" && effect !== "" && effect !== "deny")
      return fault("has a permission that is not known here");
    if (resource === "repository") (effect === "deny" ? denied : allowed).add(action);
    // What is denied of everything is denied of repositories; what is allowed of everything is more than a token may.
    else if (resource === "*" && effect === "deny") denied.add(action);
  }
  const actions = new Set(denied.has("*") ? [] : [...allowed].filter((action) => !denied.has(action)));
  if (!actions.has("pull")) return fault("may not pull");
  const role = actions.has("push") ? "registry.push" : "registry.pull";
  return { source, below: project, role, ...(endMs !== undefined && { endMs }) };
}

/** A list of objects, empty where there is none; undefined for what is no such list. */
function listIn(fields: Fields, name: string): Fields[] | undefined {
  const list = fields[name] ?? [];
  return isList(list) && list.every(isObject) ? list : undefined;
}
