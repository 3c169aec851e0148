// A devpi-server, read through its API in JSON: users with their indexes, an index with its projects, a project with
// its versions and their files. Source: devpi-server 6, views.py and view_auth.py.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { Credentials } from "./authorization.ts";
import { jsonOf, openSource, type SourceClient } from "./client.ts";
import { indexesIn } from "./devpi-indexes.ts";
import { readDevpiProject } from "./devpi-project.ts";
import { logIn } from "./login.ts";
import { fileFrom } from "./package-files.ts";
import type { ProjectSource } from "./project-source.ts";
import { SourceError } from "./source-error.ts";

const MAX_BYTES = 64 << 20;
const MAX_PROJECTS = 100_000;

export function devpiSource(origin: string, credentials: Credentials): ProjectSource {
  let opened: Promise<SourceClient> | undefined;
  const client = (): Promise<SourceClient> => (opened ??= openDevpi(origin, credentials));
  const resultOf = async (path: string): Promise<Record<string, unknown>> => {
    const answer = await (await client()).ask(path, { maxBytes: MAX_BYTES });
    if (answer.status === 404) throw new SourceError("is not there");
    const said = jsonOf(answer);
    const result = isObject(said) ? said["result"] : undefined;
    if (!isObject(result)) throw new SourceError(`the source answers ${answer.url.pathname} with no result of devpi's`);
    return result;
  };
  return {
    origin,
    leavesBehind:
      "users and rights; what mirrors have fetched; results of tests (toxresults) and documentation (doczips)",
    indexes: async () => indexesIn(await resultOf("/")),
    async projects(index) {
      const { projects } = await resultOf(`/${index}`);
      if (!isList(projects)) throw new SourceError("the source does not list its projects");
      if (projects.length > MAX_PROJECTS) throw new SourceError(`has more than ${MAX_PROJECTS} projects`);
      return projects.map((name) => (typeof name === "string" ? name : ""));
    },
    async read(index, project) {
      const result = await resultOf(`/${index}/${project}?ignore_bases`);
      return readDevpiProject(result, { index, project, origin, nowMs: Date.now() });
    },
    file: async (path) => fileFrom(await client(), path),
  };
}

/** A client with a token of devpi's: checking a password is slow there on purpose. */
async function openDevpi(origin: string, { username, password }: Credentials): Promise<SourceClient> {
  if (username === "") return openSource(origin, { username, password });
  const { status, answer } = await logIn(`${origin}/+login`, { user: username, password });
  const result = isObject(answer) ? answer["result"] : undefined;
  const token = isObject(result) ? result["password"] : undefined;
  if (status !== 200 || typeof token !== "string" || token === "")
    throw new SourceError(`the source does not log ${username} in (${status})`, { status });
  return openSource(origin, { username, password: token });
}
