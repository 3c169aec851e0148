// Quay, by its own API: repositories of organizations, and the whole history of their tags.
// Source: Quay's API, endpoints/api/repository.py and endpoints/api/tag.py.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { SourceClient } from "./client.ts";
import {
  isDigest,
  isTag,
  publicMember,
  type Source,
  type SourceMember,
  type SourceMove,
  type SourceRepo,
  type SourceTag,
} from "./model.ts";
import { itemsOfNumbered, objectsIn } from "./numbered-pages.ts";
import { quayMembers } from "./quay-members.ts";
import { quayPolicies } from "./quay-policies.ts";
import { quayRobots } from "./quay-robots.ts";
import { cachesRegistry, quaySettings } from "./quay-settings.ts";
import { SourceError } from "./source-error.ts";

type Fields = Record<string, unknown>;

/** A time in which a tag pointed to a digest. */
interface Life {
  digest: string;
  startMs: number;
  /** Undefined while it is alive and is not to end. */
  endMs: number | undefined;
  /** It says of its end something that is not a time. */
  isEndUnknown: boolean;
}

const API = "/api/v1";
const PAGE = 100;
const MAX_LIVES = 500_000;
const CACHED = "is of an organization that caches another registry: it comes from there when it is pulled";

/** `namespaces`: the organizations and users whose repositories are to come. `nowMs`: what ends later is alive. */
export function quaySource(client: SourceClient, namespaces: readonly string[], nowMs: number): Source {
  const visibility = new Map<string, boolean>();
  return {
    hasHistory: true,
    leavesBehind: "permissions of people and teams on repositories, federations of robots, notifications",
    async *repos() {
      for (const namespace of namespaces) {
        const isCache = await cachesRegistry(client, namespace);
        for await (const { isPublic, ...repo } of reposOf(client, namespace)) {
          visibility.set(repo.name, isPublic);
          yield isCache ? { ...repo, fault: CACHED } : repo;
        }
      }
    },
    robots: (repos) => quayRobots(client, repos),
    async *members(repos) {
      yield* publicMembers(repos, visibility);
      yield* quayMembers(client, repos);
    },
    groups: () => namespaces,
    async *policies(repos) {
      yield* quayPolicies(client, repos);
      yield* quaySettings(client, namespaces, repos);
    },
    async *tags(repo) {
      const lives = new Map<string, Life[]>();
      let count = 0;
      for await (const entry of livesOf(client, repo)) {
        if ((count += 1) > MAX_LIVES) throw new SourceError(`its tags have more than ${MAX_LIVES} moves`);
        const name = textIn(entry, "name");
        lives.set(name, [...(lives.get(name) ?? []), lifeOf(entry)]);
      }
      for (const [name, all] of lives) yield tagOf(name, all, nowMs);
    },
  };
}

/**
 * Quay makes single repositories public, Moorage groups with all that is in them: an organization becomes public where
 * all of it is that comes.
 */
function* publicMembers(repos: readonly string[], visibility: ReadonlyMap<string, boolean>): Generator<SourceMember> {
  const byNamespace = Map.groupBy(repos, (repo) => repo.slice(0, repo.indexOf("/")));
  for (const [namespace, names] of byNamespace) {
    const open = names.filter((name) => visibility.get(name) === true);
    if (open.length === 0) continue;
    if (open.length === names.length) yield publicMember(`${namespace}: public repositories`, namespace);
    else
      for (const name of open)
        yield {
          ...publicMember(`${name}: public repository`, namespace),
          fault: `${names.length - open.length} of the ${names.length} repositories of ${namespace} are private, and here a group is public with all that is in it: move what is public to a group of its own`,
        };
  }
}

async function* reposOf(client: SourceClient, namespace: string): AsyncGenerator<SourceRepo & { isPublic: boolean }> {
  let token = "";
  const read = async (): Promise<{ items: Fields[]; more: boolean }> => {
    const next = token === "" ? "" : `&next_page=${encodeURIComponent(token)}`;
    const body = await client.json(`${API}/repository?namespace=${encodeURIComponent(namespace)}${next}`);
    if (!isObject(body) || !isList(body["repositories"]))
      throw new SourceError(`the source has no list of the repositories of ${namespace}`);
    token = textIn(body, "next_page");
    return { items: objectsIn(body["repositories"], "the list of repositories"), more: token !== "" };
  };
  for await (const repo of itemsOfNumbered(read, (each) => textIn(each, "name"))) {
    const name = `${textIn(repo, "namespace")}/${textIn(repo, "name")}`;
    const base = { name, isPublic: repo["is_public"] === true };
    if (!name.startsWith(`${namespace}/`))
      yield { ...base, fault: `is listed in ${namespace}, and is of another namespace` };
    else if (repo["kind"] === "application") yield { ...base, fault: "is an application, and no image" };
    else yield base;
  }
}

function livesOf(client: SourceClient, repo: string): AsyncGenerator<Fields> {
  const path = `${API}/repository/${repo.split("/").map(encodeURIComponent).join("/")}/tag/`;
  return itemsOfNumbered(
    async (page) => {
      const body = await client.json(`${path}?limit=${PAGE}&page=${page}`);
      if (!isObject(body) || !isList(body["tags"])) throw new SourceError("the source has no list of its tags");
      return { items: objectsIn(body["tags"], `the tags of ${repo}`), more: body["has_additional"] === true };
    },
    (item) => `${textIn(item, "name")} ${String(item["start_ts"])} ${textIn(item, "manifest_digest")}`,
  );
}

function lifeOf(entry: Fields): Life {
  const ms = (name: string): number | undefined => {
    const value = entry[name];
    return typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value < 1e11
      ? value * 1000
      : undefined;
  };
  const endMs = ms("end_ts");
  const isEndUnknown = endMs === undefined && (entry["end_ts"] ?? null) !== null;
  return { digest: textIn(entry, "manifest_digest"), startMs: ms("start_ts") ?? 0, endMs, isEndUnknown };
}

function tagOf(name: string, all: readonly Life[], nowMs: number): SourceTag {
  const none = { name, digest: "", moves: [] };
  if (!isTag(name)) return { ...none, fault: "is not a valid tag name" };
  if (all.some(({ digest }) => !isDigest(digest)))
    return { ...none, fault: "points to something that is not a digest" };
  const lives = all.toSorted((one, other) => one.startMs - other.startMs);
  const alive = lives.findLast(({ endMs }) => endMs === undefined || endMs > nowMs);
  return {
    name,
    digest: alive?.digest ?? "",
    moves: movesOf(lives, nowMs),
    ...(alive?.endMs !== undefined && { endMs: alive.endMs }),
    ...(alive?.isEndUnknown === true && { endFault: "the source says of its end something that is not a time" }),
  };
}

/** A move where each life begins, and a deletion where one ends before the next begins. */
function movesOf(lives: readonly Life[], nowMs: number): SourceMove[] {
  return lives.flatMap(({ digest, startMs, endMs }, at) => {
    if (startMs === 0) return [];
    const next = lives[at + 1]?.startMs ?? Infinity;
    const isDeleted = endMs !== undefined && endMs <= nowMs && endMs < next;
    return [{ digest, timeMs: startMs }, ...(isDeleted ? [{ digest: "", timeMs: endMs }] : [])];
  });
}

function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value.slice(0, 2_000).toWellFormed() : "";
}
