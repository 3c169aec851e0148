// A Nexus Repository 3, read through its REST API: repositories, and the components of those that hold Python projects,
// npm packages and Maven artifacts; packuments by the protocol of npm.
// Source: help.sonatype.com, "Repositories API" and "Components API".
import { isList, isObject } from "@moorage/kernel/lib/json";
import { pypiName } from "@moorage/kernel/lib/purls";
import type { Credentials } from "./authorization.ts";
import { jsonOf, openSource, type SourceClient } from "./client.ts";
import { indexOfRepository, nexusFile, storedAsset } from "./nexus-repositories.ts";
import { itemsOfNumbered, objectsIn } from "./numbered-pages.ts";
import { listedOnce, type ProjectSource, type SourceFile } from "./project-source.ts";
import { once } from "./once.ts";
import { fileFrom } from "./package-files.ts";
import { SourceError } from "./source-error.ts";
import { artifactsIn, npmReader } from "./stored-files.ts";

const API = "/service/rest/v1";
const MAX_REPOSITORIES = 10_000;
const MAX_FILES = 500_000;

/** A component of a repository, as the source lists it. */
interface Component {
  name: string;
  version: string;
  assets: Record<string, unknown>[];
}

/** A project of a repository, as far as its components say. */
interface Held {
  name: string;
  files: SourceFile[];
  signatures: number;
}

export function nexusSource(origin: string, credentials: Credentials): ProjectSource {
  const client = openSource(origin, credentials);
  // Components of one project cannot be listed, so those of a repository are, once.
  const componentsOf = once((repository) => readComponents(client, repository));
  const projectsOf = once(async (repository) =>
    projectsIn(await componentsOf(repository), { repository, origin, nowMs: Date.now() }),
  );
  const filesOf = once(async (repository) => {
    const place = { repository, origin, nowMs: Date.now() };
    return (await componentsOf(repository)).flatMap(({ name, version, assets }) =>
      assets.map((asset) => storedAsset(asset, { ...place, name, version })),
    );
  });
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
    projects: async (index) => [...(await projectsOf(index)).values()].map(({ name }) => name),
    async read(index, project) {
      const held = (await projectsOf(index)).get(pypiName(project));
      if (held === undefined) throw new SourceError("is not there");
      const left = held.signatures === 0 ? [] : [`${held.signatures} signatures`];
      return { name: held.name, files: listedOnce(held.files), left };
    },
    packages: (index) => npmReader({ client, files: () => filesOf(index), base: `/repository/${index}/` }),
    artifacts: async (index) => artifactsIn(await filesOf(index)),
    file: (path) => fileFrom(client, path),
  };
}

/** The components of a repository. */
async function readComponents(client: SourceClient, repository: string): Promise<Component[]> {
  const components: Component[] = [];
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
  for await (const { name, version, assets } of pages) {
    if (typeof name !== "string" || typeof version !== "string" || !isList(assets))
      throw new SourceError("the source lists a component without a name, a version or assets");
    if ((count += assets.length) > MAX_FILES) throw new SourceError(`has more than ${MAX_FILES} files: use --names`);
    components.push({ name, version, assets: objectsIn(assets, "assets") });
  }
  return components;
}

/** The Python projects that components are of, by their normalized names. */
function projectsIn(
  components: readonly Component[],
  place: { repository: string; origin: string; nowMs: number },
): Map<string, Held> {
  const projects = new Map<string, Held>();
  for (const { name, version, assets } of components) {
    const held = projects.get(pypiName(name)) ?? { name, files: [], signatures: 0 };
    projects.set(pypiName(name), held);
    for (const asset of assets) {
      const file = nexusFile(asset, { ...place, version });
      if (file.name.endsWith(".asc")) held.signatures += 1;
      else held.files.push(file);
    }
  }
  return projects;
}

function keyOf({ id, name, version }: Record<string, unknown>): string {
  return typeof id === "string" ? id : `${String(name)}@${String(version)}`;
}
