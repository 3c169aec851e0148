// A Nexus Repository 3, read through its REST API: repositories, and the components of those that hold Python projects.
// Source: help.sonatype.com, "Repositories API" and "Components API".
import { isList, isObject } from "@moorage/kernel/lib/json";
import { pypiName } from "@moorage/kernel/lib/purls";
import type { Credentials } from "./authorization.ts";
import { jsonOf, openSource, type SourceClient } from "./client.ts";
import { indexOfRepository, nexusFile } from "./nexus-repositories.ts";
import { itemsOfNumbered, objectsIn } from "./numbered-pages.ts";
import { listedOnce, type ProjectSource, type SourceFile } from "./project-source.ts";
import { SourceError } from "./source-error.ts";

const API = "/service/rest/v1";
const MAX_REPOSITORIES = 10_000;
const MAX_FILES = 500_000;
const MAX_FILE_BYTES = 256 << 20;
const FILE_TIMEOUT_MS = 10 * 60_000;

/** A project of a repository, as far as its components say. */
interface Held {
  name: string;
  files: SourceFile[];
  signatures: number;
}

export function nexusSource(origin: string, credentials: Credentials): ProjectSource {
  const client = openSource(origin, credentials);
  // Components of one project cannot be listed, so those of a repository are, once.
  const repositories = new Map<string, Promise<Map<string, Held>>>();
  const heldIn = (repository: string): Promise<Map<string, Held>> => {
    const held = repositories.get(repository) ?? readComponents(client, repository);
    repositories.set(repository, held);
    return held;
  };
  return {
    origin,
    leavesBehind:
      "users, rights, cleanup policies and tags; what proxies have fetched; repositories that these credentials do not show",
    async indexes() {
      const answer = await client.ask(`${API}/repositories`);
      const list = answer.status === 404 ? undefined : jsonOf(answer);
      if (!isList(list)) throw new SourceError("the source does not list repositories: it is no Nexus Repository 3");
      if (list.length > MAX_REPOSITORIES)
        throw new SourceError(`the source has more than ${MAX_REPOSITORIES} repositories`);
      return objectsIn(list, answer.url.pathname).map((each) => indexOfRepository(each, origin));
    },
    projects: async (index) => [...(await heldIn(index)).values()].map(({ name }) => name),
    async read(index, project) {
      const held = (await heldIn(index)).get(pypiName(project));
      if (held === undefined) throw new SourceError("is not there");
      const left = held.signatures === 0 ? [] : [`${held.signatures} signatures`];
      return { name: held.name, files: listedOnce(held.files), left };
    },
    async file(path) {
      const found = await client.chunks(path, {
        accept: "*/*",
        maxBytes: MAX_FILE_BYTES,
        timeoutMs: FILE_TIMEOUT_MS,
      });
      if (found === undefined) throw new SourceError("its file is not there");
      return found;
    },
  };
}

/** The projects of a repository, by their normalized names. */
async function readComponents(client: SourceClient, repository: string): Promise<Map<string, Held>> {
  const projects = new Map<string, Held>();
  let token = "";
  let count = 0;
  const pages = itemsOfNumbered(async () => {
    const query = new URLSearchParams({ repository, ...(token !== "" && { continuationToken: token }) });
    const answer = await client.ask(`${API}/components?${query.toString()}`);
    const page = answer.status === 404 ? undefined : jsonOf(answer);
    if (!isObject(page) || !isList(page["items"])) throw new SourceError("the source does not list its components");
    const next = page["continuationToken"] ?? "";
    if (typeof next !== "string") throw new SourceError("the source's next page has no token");
    token = next;
    return { items: objectsIn(page["items"], answer.url.pathname), more: next !== "" };
  }, keyOf);
  for await (const component of pages) {
    const { name, version, assets } = component;
    if (typeof name !== "string" || typeof version !== "string" || !isList(assets))
      throw new SourceError("the source lists a component without a name, a version or assets");
    const held = projects.get(pypiName(name)) ?? { name, files: [], signatures: 0 };
    projects.set(pypiName(name), held);
    for (const asset of objectsIn(assets, "assets")) {
      if ((count += 1) > MAX_FILES) throw new SourceError(`has more than ${MAX_FILES} files: use --names`);
      const file = nexusFile(asset, { repository, version, origin: client.origin, nowMs: Date.now() });
      if (file.name.endsWith(".asc")) held.signatures += 1;
      else held.files.push(file);
    }
  }
  return projects;
}

function keyOf({ id, name, version }: Record<string, unknown>): string {
  return typeof id === "string" ? id : `${String(name)}@${String(version)}`;
}
