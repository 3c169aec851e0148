// What is here of Maven artifacts, in a group that a repository moves into.
import { textIn } from "../api/json-fields.ts";
import type { RestClient } from "../api/rest.ts";
import { artifactsHere, versionsHere } from "./artifacts-here.ts";
import { refused } from "./publish.ts";
import { sumOfHex } from "./sums.ts";

const MAX_SUM_CHARS = 200;

/** The uids of the Maven artifacts in a group, by name. */
export async function mavenHere(rest: RestClient, group: string): Promise<Map<string, string>> {
  return artifactsHere(rest, group, "ECOSYSTEM_JAVA");
}

/** The versions of an artifact that are here, published or fetched. `uid`: undefined for one that is not. */
export async function mavenVersionsHere(rest: RestClient, uid: string | undefined): Promise<Set<string>> {
  const versions = new Set<string>();
  if (uid !== undefined) for await (const item of versionsHere(rest, uid)) versions.add(textIn(item, "version"));
  return versions;
}

/** The sum of a file here, of the kind of the other one; undefined when it is not here. */
export async function mavenSumHere(
  rest: RestClient,
  { group, path }: { group: string; path: string },
  sum: string,
): Promise<string | undefined> {
  const algorithm = sum.slice(0, sum.indexOf("-"));
  const response = await rest.fetch(`${mavenFilePath(group, path)}.${algorithm}`, { audience: "registry" });
  const text = (await response.text().catch(() => "")).slice(0, MAX_SUM_CHARS);
  if (response.status === 404) return undefined;
  const found = response.ok ? sumOfHex(algorithm, text.trim()) : undefined;
  if (found === undefined) throw refused(response.status, text);
  return found;
}

/** The path of a file of the Maven repository of a group. */
export function mavenFilePath(group: string, path: string): string {
  return `/maven/${encoded(group)}/-/${encoded(path)}`;
}

function encoded(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
