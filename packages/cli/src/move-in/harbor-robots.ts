// Robots of Harbor's projects. Source: Harbor's api/v2.0/swagger.yaml.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { SourceRobot } from "./model.ts";

type Fields = Record<string, unknown>;

/** What a robot of a project becomes in its group: a pull token, or a push token. */
export function robotOf(project: string, robot: Fields, nowMs: number): SourceRobot {
  const source = typeof robot["name"] === "string" ? robot["name"].slice(0, 255).toWellFormed() : "";
  const fault = (why: string): SourceRobot => ({ source, below: project, fault: why });
  if (source === "") return fault("has no name");
  if (robot["disable"] === true) return fault("is disabled there");
  const end = robot["expires_at"];
  const endMs = typeof end === "number" && end > 0 && end < 1e11 ? end * 1000 : undefined;
  if (endMs !== undefined && endMs <= nowMs) return fault("has ended there");
  const permissions = isList(robot["permissions"]) ? robot["permissions"].filter(isObject) : [];
  if (permissions.some(({ kind, namespace }) => kind !== "project" || namespace !== project))
    return fault("may do something beside its project");
  const actions = new Set(permissions.flatMap(actionsOf));
  if (!actions.has("pull")) return fault("may not pull");
  const role = actions.has("push") ? "registry.push" : "registry.pull";
  return { source, below: project, role, ...(endMs !== undefined && { endMs }) };
}

/** What it may do with repositories. */
function actionsOf({ access }: Fields): string[] {
  if (!isList(access)) return [];
  return access
    .filter(isObject)
    .filter(({ resource, effect }) => resource === "repository" && effect !== "deny")
    .flatMap(({ action }) => (typeof action === "string" ? [action] : []));
}
