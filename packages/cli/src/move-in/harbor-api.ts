// Requests to Harbor's own API. Source: Harbor's api/v2.0/swagger.yaml.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { SourceClient } from "./client.ts";
import { itemsOfNumbered, objectsIn } from "./numbered-pages.ts";
import { SourceError } from "./source-error.ts";

export type Fields = Record<string, unknown>;

/** What stands before the paths of the API. */
export const API = "/api/v2.0";
const PAGE = 100;
const MAX_TEXT = 512;

/** The items of a list, each once. `key`: the field by which they are known; `query`: ends in `&`. */
export function listOf(client: SourceClient, path: string, key: string, query = ""): AsyncGenerator<Fields> {
  return itemsOfNumbered(
    async (page) => {
      const body = (await client.json(`${path}?${query}page=${page}&page_size=${PAGE}`)) ?? [];
      if (!isList(body)) throw new SourceError(`the source answers ${path} without a list`);
      return { items: objectsIn(body, path), more: body.length >= PAGE };
    },
    (item) => (typeof item[key] === "number" ? String(item[key]) : textIn(item, key)),
  );
}

/** A text of an answer, cut where it is long; empty without one. */
export function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value.slice(0, MAX_TEXT).toWellFormed() : "";
}

/** A time in milliseconds; undefined without one, and for the year 1, which stands for none. */
export function timeIn(fields: Fields, name: string): number | undefined {
  const timeMs = Date.parse(textIn(fields, name));
  return Number.isNaN(timeMs) || timeMs <= 0 ? undefined : timeMs;
}

/** A project, as far as it is read. */
export interface Project {
  name: string;
  id: number;
  /** The number of its rules of retention, as the source says it; empty without any. */
  retention: string;
  /** The registry that it caches; undefined for other projects. */
  registry: number | undefined;
  metadata: Fields;
  /** The vulnerabilities that it lets pass, as it was answered. */
  allowlist: unknown;
}

/** Asks for each project once. Throws a SourceError. */
export function openProjects(client: SourceClient): (name: string) => Promise<Project> {
  const read = async (name: string): Promise<Project> => {
    const answer = await client.json(`${API}/projects/${encodeURIComponent(name)}`);
    const { project_id, metadata: given, cve_allowlist: allowlist, registry_id } = isObject(answer) ? answer : {};
    const id = Number(project_id);
    if (!Number.isSafeInteger(id)) throw new SourceError(`the source says no number of the project ${name}`);
    const metadata = isObject(given) ? given : {};
    const retention = String(metadata["retention_id"] ?? "");
    const registry = typeof registry_id === "number" && registry_id > 0 ? registry_id : undefined;
    return { name, id, retention: retention === "0" ? "" : retention, registry, metadata, allowlist };
  };
  const asked = new Map<string, Promise<Project>>();
  return (name) => {
    const found = asked.get(name) ?? read(name);
    asked.set(name, found);
    return found;
  };
}
