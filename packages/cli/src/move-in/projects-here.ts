// What is here of Python projects, in a group that an index moves into.
import { isList, isObject } from "@moorage/kernel/lib/json";
import { pypiName } from "@moorage/kernel/lib/purls";
import { compareVersions } from "@moorage/kernel/lib/versions";
import { textIn } from "../api/json-fields.ts";
import type { RestClient } from "../api/rest.ts";
import { artifactsHere, versionsHere } from "./artifacts-here.ts";
import { refused } from "./publish.ts";
import { sumOfHex } from "./sums.ts";

/** A file here. */
interface FileHere {
  sums: string[];
  isYanked: boolean;
}

/** A project here. */
export interface ProjectHere {
  /** The uids of its versions that are here, published or fetched. */
  versions: Map<string, string>;
  /** The files that clients are shown. */
  files: Map<string, FileHere>;
}

const JSON_TYPE = "application/vnd.pypi.simple.v1+json";

/** The uids of the Python projects in a group, by their normalized names. */
export async function projectsHere(rest: RestClient, group: string): Promise<Map<string, string>> {
  const found = await artifactsHere(rest, group, "ECOSYSTEM_PYTHON");
  return new Map([...found].map(([name, uid]) => [pypiName(name), uid]));
}

/** What is here of a project. `group`: its path; `uid`: undefined for a project that is not. */
export async function projectHere(
  rest: RestClient,
  { group, name, uid }: { group: string; name: string; uid: string | undefined },
): Promise<ProjectHere> {
  if (uid === undefined) return { versions: new Map(), files: new Map() };
  const versions = new Map<string, string>();
  for await (const item of versionsHere(rest, uid)) versions.set(textIn(item, "version"), textIn(item, "uid"));
  return { versions, files: await filesShown(rest, group, name) };
}

/** A file that is here; what an upstream lists, and nobody has asked for yet, is not. */
export function fileHere({ versions, files }: ProjectHere, name: string, version: string): FileHere | undefined {
  return versionHere(versions, version) === undefined ? undefined : files.get(name);
}

/** The uid of a version here, however its number is written there. */
export function versionHere(versions: ReadonlyMap<string, string>, version: string): string | undefined {
  for (const [ours, uid] of versions) if (compareVersions("pypi", ours, version) === 0) return uid;
  return undefined;
}

async function filesShown(rest: RestClient, group: string, name: string): Promise<Map<string, FileHere>> {
  const path = `${pythonPath(group)}/simple/${encodeURIComponent(pypiName(name))}/`;
  const response = await rest.fetch(path, { audience: "registry", headers: { accept: JSON_TYPE } });
  if (response.status === 404) return new Map();
  if (!response.ok) throw refused(response.status, await response.text().catch(() => ""));
  const body: unknown = await response.json().catch(() => undefined);
  const files = isObject(body) && isList(body["files"]) ? body["files"].filter(isObject) : [];
  return new Map(
    files.map(({ filename, hashes, yanked }) => {
      const sums = Object.entries(isObject(hashes) ? hashes : {}).flatMap(([kind, hex]) => sumOfHex(kind, hex) ?? []);
      return [String(filename), { sums, isYanked: yanked !== false && yanked !== undefined }];
    }),
  );
}

/** The path of the index of Python projects of a group. */
export function pythonPath(group: string): string {
  return `/pypi/${group.split("/").map(encodeURIComponent).join("/")}`;
}
