// Harbor 2, by its own API: projects, repositories, and artifacts with their tags and since when those are there.
// Source: Harbor's API description, api/v2.0/swagger.yaml.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { SourceClient } from "./client.ts";
import { openMemberReader } from "./harbor-members.ts";
import { expressionsOf, immutablePolicies, quotaPolicy } from "./harbor-policies.ts";
import { retentionPolicies } from "./harbor-retention.ts";
import { robotOf } from "./harbor-robots.ts";
import { isDigest, isTag, type Source, type SourcePolicy, type SourceRepo, type SourceTag } from "./model.ts";
import { itemsOfNumbered, objectsIn } from "./numbered-pages.ts";
import { isOfOne, SourceError } from "./source-error.ts";

type Fields = Record<string, unknown>;

const API = "/api/v2.0";
const PAGE = 100;
const PROXY = "is of a project that caches another registry: such projects do not come";

/** What of Harbor is read. */
interface HarborOptions {
  /** The projects that are to come; all that the caller sees without. */
  projects?: readonly string[] | undefined;
  /** The issuer of the people there. */
  issuer?: string | undefined;
}

export function harborSource(client: SourceClient, { projects, issuer }: HarborOptions): Source {
  const projectOf = openProjects(client);
  const members = openMemberReader(client, issuer);
  // Repositories with images of several tags, as far as their tags were listed.
  const shared = new Set<string>();
  return {
    hasHistory: true,
    leavesBehind: "robots of the system, labels, scanners, webhooks, replications",
    async *repos() {
      const asked = new Set(projects);
      for await (const project of listOf(client, `${API}/projects`, "name")) {
        const name = textIn(project, "name");
        if (projects !== undefined && !asked.delete(name)) continue;
        yield* reposOf(client, name, typeof project["registry_id"] === "number" && project["registry_id"] > 0);
      }
      const [unknown] = asked;
      if (unknown !== undefined) throw new SourceError(`the source has no project ${unknown} that we see`);
    },
    robots: (repos) =>
      ofEach(
        repos,
        async function* (name) {
          const query = `q=${encodeURIComponent(`Level=project,ProjectID=${(await projectOf(name)).id}`)}&`;
          for await (const robot of listOf(client, `${API}/robots`, "id", query))
            yield robotOf(name, robot, Date.now());
        },
        (name, fault) => ({ source: `${name}: robots`, below: name, fault }),
      ),
    members: (repos) =>
      ofEach(
        repos,
        async function* (name) {
          const path = `${API}/projects/${(await projectOf(name)).id}/members`;
          for await (const member of listOf(client, path, "id")) yield await members.memberOf(name, member);
        },
        (name, fault) => ({ kind: "person", source: `${name}: members`, below: name, roles: [], fault }),
      ),
    async *policies(repos) {
      const immutable = new Map<string, ReadonlyMap<string, readonly string[]> | undefined>();
      yield* ofEach(
        repos,
        async function* (name) {
          const path = `${API}/projects/${(await projectOf(name)).id}/immutabletagrules`;
          const below = reposBelow(name, repos);
          const found: SourcePolicy[] = [];
          for await (const rule of listOf(client, path, "id")) found.push(...immutablePolicies(name, rule, below));
          immutable.set(name, expressionsOf(found));
          yield* found;
        },
        (name, fault): SourcePolicy => ({ kind: "policy", source: `${name}: immutable tags`, below: name, fault }),
      );
      yield* ofEach(
        repos,
        async function* (name) {
          const { retention } = await projectOf(name);
          if (retention === "") return;
          if (!/^\d{1,18}$/.test(retention))
            throw new SourceError("the source names no rules of retention that could be");
          const policy = await client.json(`${API}/retentions/${retention}`);
          if (!isObject(policy)) throw new SourceError("the source has no rules of retention where it says so");
          const of = { name, repos: reposBelow(name, repos), immutable: immutable.get(name) };
          yield* retentionPolicies({ ...of, hasSharedImages: (repo) => shared.has(repo) }, policy);
        },
        (name, fault): SourcePolicy => ({ kind: "retention", source: `${name}: retention`, below: name, fault }),
      );
      yield* ofEach(
        repos,
        async function* (name) {
          const { id } = await projectOf(name);
          const query = `reference=project&reference_id=${id}&`;
          const quotas: Fields[] = [];
          for await (const quota of listOf(client, `${API}/quotas`, "id", query)) quotas.push(quota);
          yield* quotaPolicy(name, id, quotas);
        },
        (name, fault): SourcePolicy => ({ kind: "quota", source: `${name}: storage quota`, below: name, fault }),
      );
    },
    async *tags(repo) {
      const cut = repo.indexOf("/");
      // Harbor wants the slashes of a repository's name encoded twice.
      const name = encodeURIComponent(encodeURIComponent(repo.slice(cut + 1)));
      const path = `${API}/projects/${encodeURIComponent(repo.slice(0, cut))}/repositories/${name}/artifacts`;
      for await (const artifact of listOf(client, path, "digest", "with_tag=true&")) {
        if (isList(artifact["tags"]) && artifact["tags"].length > 1) shared.add(repo);
        yield* tagsOf(artifact);
      }
    },
  };
}

/** What a project has; `faultOf`: what stands for it where that cannot be read, which ends nothing else. */
async function* ofEach<T>(
  repos: readonly string[],
  read: (project: string) => AsyncGenerator<T>,
  faultOf: (project: string, why: string) => T,
): AsyncGenerator<T> {
  for (const project of new Set(repos.map((repo) => repo.slice(0, repo.indexOf("/"))))) {
    try {
      yield* read(project);
    } catch (error) {
      if (!isOfOne(error)) throw error;
      yield faultOf(project, error.message);
    }
  }
}

function reposBelow(project: string, repos: readonly string[]): string[] {
  return repos.filter((repo) => repo.startsWith(`${project}/`));
}

/** What a project is known by in other lists. */
interface Project {
  id: number;
  /** The number of its rules of retention, as the source says it; empty without any. */
  retention: string;
}

/** Asks for each project once. */
function openProjects(client: SourceClient): (name: string) => Promise<Project> {
  const read = async (name: string): Promise<Project> => {
    const project = await client.json(`${API}/projects/${encodeURIComponent(name)}`);
    const { project_id, metadata } = isObject(project) ? project : {};
    const id = Number(project_id);
    if (!Number.isSafeInteger(id)) throw new SourceError(`the source says no number of the project ${name}`);
    const retention = String((isObject(metadata) ? metadata["retention_id"] : undefined) ?? "");
    return { id, retention: retention === "0" ? "" : retention };
  };
  const asked = new Map<string, Promise<Project>>();
  return (name) => {
    const found = asked.get(name) ?? read(name);
    asked.set(name, found);
    return found;
  };
}

async function* reposOf(client: SourceClient, project: string, isProxy: boolean): AsyncGenerator<SourceRepo> {
  for await (const repo of listOf(client, `${API}/projects/${encodeURIComponent(project)}/repositories`, "name")) {
    const name = textIn(repo, "name");
    if (!name.startsWith(`${project}/`))
      yield { name, fault: `is listed in the project ${project}, and is of another` };
    else yield { name, ...(isProxy && { fault: PROXY }) };
  }
}

function* tagsOf(artifact: Fields): Generator<SourceTag> {
  const digest = textIn(artifact, "digest");
  const listed = isList(artifact["tags"]) ? artifact["tags"] : [];
  const tags = listed.filter(isObject);
  if (tags.length < listed.length)
    yield {
      name: `@${digest}`,
      digest: "",
      moves: [],
      fault: `has ${listed.length - tags.length} tags that cannot be read`,
    };
  else if (tags.length === 0) yield { name: `@${digest}`, digest: "", moves: [], fault: "has no tag" };
  for (const tag of tags) {
    const name = textIn(tag, "name");
    if (!isTag(name)) yield { name, digest: "", moves: [], fault: "is not a valid tag name" };
    else if (!isDigest(digest))
      yield { name, digest: "", moves: [], fault: "points to something that is not a digest" };
    else {
      const timeMs = timeIn(tag, "push_time") ?? timeIn(artifact, "push_time");
      yield { name, digest, moves: timeMs === undefined ? [] : [{ digest, timeMs }] };
    }
  }
}

function listOf(client: SourceClient, path: string, key: string, query = ""): AsyncGenerator<Fields> {
  return itemsOfNumbered(
    async (page) => {
      const body = (await client.json(`${path}?${query}page=${page}&page_size=${PAGE}`)) ?? [];
      if (!isList(body)) throw new SourceError(`the source answers ${path} without a list`);
      return { items: objectsIn(body, path), more: body.length >= PAGE };
    },
    (item) => (typeof item[key] === "number" ? String(item[key]) : textIn(item, key)),
  );
}

function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value.slice(0, 512).toWellFormed() : "";
}

/** A time; undefined without one, and for the year 1, which stands for none. */
function timeIn(fields: Fields, name: string): number | undefined {
  const timeMs = Date.parse(textIn(fields, name));
  return Number.isNaN(timeMs) || timeMs <= 0 ? undefined : timeMs;
}
