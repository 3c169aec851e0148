// A JFrog Artifactory 7, read through its REST API: repositories and their configurations, the files of those that hold
// npm packages, Python projects and Maven artifacts by queries, and packuments by the protocol of npm. Source: JFrog,
// "Artifactory REST API" and "Artifactory Query Language".
import { isList, isObject } from "@moorage/kernel/lib/json";
import { pypiName } from "@moorage/kernel/lib/purls";
import {
  BASE,
  configurationIn,
  indexOfListed,
  type ListedRepository,
  listedRepository,
  needsConfiguration,
  pythonFileOf,
  storedItem,
} from "./artifactory-repositories.ts";
import type { Credentials } from "./authorization.ts";
import { jsonOf, openSource, type SourceClient } from "./client.ts";
import { itemsOfNumbered, objectsIn } from "./numbered-pages.ts";
import { once } from "./once.ts";
import { fileFrom } from "./package-files.ts";
import { inParallel } from "./parallel.ts";
import { listedOnce, type ProjectSource, type SourceFile, type SourceIndex } from "./project-source.ts";
import { catalogOf } from "./registry-reader.ts";
import { isOfOne, SourceError } from "./source-error.ts";
import { artifactsIn, npmReader, type StoredFile } from "./stored-files.ts";

const MAX_REPOSITORIES = 10_000;
const MAX_FILES = 500_000;
const MAX_IMAGES = 100_000;
const QUERY_TIMEOUT_MS = 5 * 60_000;
const PAGE = 1_000;
// What npm's clients read, and what an index of Python is made of: made here of the files.
const MADE_THERE = /^\.(?:npm|pypi)\//;

/** A project of Python, as far as its files say. */
interface Held {
  name: string;
  files: SourceFile[];
}

export function artifactorySource(origin: string, credentials: Credentials): ProjectSource {
  const client = openSource(origin, credentials);
  const filesOf = once((repository) => readFiles(client, repository));
  const projectsOf = once(async (repository) => {
    const projects = new Map<string, Held>();
    for (const stored of await filesOf(repository)) {
      const { project, file } = pythonFileOf(stored);
      const held = projects.get(pypiName(project)) ?? { name: project, files: [] };
      projects.set(pypiName(project), held);
      held.files.push(file);
    }
    return projects;
  });
  return {
    origin,
    leavesBehind:
      "users, rights, properties, builds and what remote repositories have fetched; repositories that these credentials do not show; which files of Python are yanked, and for which versions of Python source distributions are",
    async indexes() {
      const answer = await client.ask(`${BASE}/api/repositories`);
      const list = answer.status === 404 ? undefined : jsonOf(answer);
      if (!isList(list))
        throw new SourceError(`the source does not list repositories at ${BASE}: it is no Artifactory`);
      if (list.length > MAX_REPOSITORIES)
        throw new SourceError(`the source has more than ${MAX_REPOSITORIES} repositories`);
      const listed = objectsIn(list, answer.url.pathname).map(listedRepository);
      const indexes: SourceIndex[] = [];
      for await (const index of inParallel(listed, (each) => readIndex(client, each))) indexes.push(index);
      return indexes;
    },
    projects: async (index) => [...(await projectsOf(index)).values()].map(({ name }) => name),
    async read(index, project) {
      const held = (await projectsOf(index)).get(pypiName(project));
      if (held === undefined) throw new SourceError("is not there");
      return { name: held.name, files: listedOnce(held.files), left: [] };
    },
    packages: (index) => npmReader({ client, files: () => filesOf(index), base: `${BASE}/api/npm/${index}/` }),
    artifacts: async (index) => artifactsIn(await filesOf(index)),
    async images(index) {
      const names: string[] = [];
      for await (const name of catalogOf(client, `${BASE}/api/docker/${index}/v2`)) {
        if (names.length === MAX_IMAGES) throw new SourceError(`has more than ${MAX_IMAGES} images: use --names`);
        names.push(name);
      }
      return names;
    },
    file: (path) => fileFrom(client, path),
  };
}

async function readIndex(client: SourceClient, listed: ListedRepository): Promise<SourceIndex> {
  if (!needsConfiguration(listed)) return indexOfListed(listed, undefined, client.origin);
  const path = `${BASE}/api/repositories/${encodeURIComponent(listed.key)}`;
  const said = await client.json(path).catch((error: unknown) => {
    // It takes an administrator, or Artifactory Pro.
    if (!isOfOne(error)) throw error;
    return undefined;
  });
  return indexOfListed(listed, configurationIn(said), client.origin);
}

/** The files of a repository. Throws a SourceError when the source does not answer all of them. */
async function readFiles(client: SourceClient, repository: string): Promise<StoredFile[]> {
  const files: StoredFile[] = [];
  let offset = 0;
  const pages = itemsOfNumbered(async () => {
    const answer = await client.ask(`${BASE}/api/search/aql`, {
      method: "POST",
      body: queryOf(repository, offset),
      timeoutMs: QUERY_TIMEOUT_MS,
    });
    const said = answer.status === 404 ? undefined : jsonOf(answer);
    if (!isObject(said) || !isList(said["results"])) throw new SourceError("the source does not list its files");
    const { notification } = isObject(said["range"]) ? said["range"] : {};
    if (notification !== undefined)
      throw new SourceError(`the source cuts its list of files off: ${String(notification).slice(0, 200)}`);
    const items = objectsIn(said["results"], answer.url.pathname);
    offset += items.length;
    return { items, more: items.length >= PAGE };
  }, keyOf);
  for await (const item of pages) {
    if (item["repo"] !== repository) throw new SourceError("the source lists files of another repository");
    const file = storedItem(item, repository, Date.now());
    if (MADE_THERE.test(file.path)) continue;
    if (files.length === MAX_FILES) throw new SourceError(`has more than ${MAX_FILES} files: use --names`);
    files.push(file);
  }
  return files;
}

function queryOf(repository: string, offset: number): string {
  const what = JSON.stringify({ repo: repository, type: "file" });
  const fields = '"repo","path","name","created","modified","actual_sha1","sha256"';
  return `items.find(${what}).include(${fields}).sort({"$asc":["path","name"]}).offset(${offset}).limit(${PAGE})`;
}

function keyOf({ path, name }: Record<string, unknown>): string {
  return `${String(path)}/${String(name)}`;
}
