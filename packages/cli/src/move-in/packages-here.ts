// What is here of npm packages, in the group that they move into.
import { isObject } from "@moorage/kernel/lib/json";
import { textIn } from "../api/json-fields.ts";
import type { RestClient } from "../api/rest.ts";
import { artifactsHere, versionsHere } from "./artifacts-here.ts";
import { packagePath } from "./npm-names.ts";
import { refused } from "./publish.ts";
import { sumsIn } from "./sums.ts";

/** A package here. */
export interface PackageHere {
  /** Its versions that are here, published or fetched, with the sums of their tarballs. */
  versions: Map<string, string[]>;
  tags: Map<string, string>;
}

/** The uids of the npm packages in a group, by name. */
export async function packagesHere(rest: RestClient, group: string): Promise<Map<string, string>> {
  return artifactsHere(rest, group, "ECOSYSTEM_JAVASCRIPT");
}

/**
 * What is here of a package. `uid`: undefined for one that is not. What an upstream of the group offers, and nobody has
 * asked for yet, is not here.
 */
export async function packageHere(
  rest: RestClient,
  { into, name, uid }: { into: string; name: string; uid: string | undefined },
): Promise<PackageHere> {
  if (uid === undefined) return { versions: new Map(), tags: new Map() };
  const { manifests, tags } = await packumentHere(rest, into, name);
  const versions = new Map<string, string[]>();
  for await (const item of versionsHere(rest, uid)) {
    const version = textIn(item, "version");
    const { dist } = manifests.get(version) ?? {};
    versions.set(version, isObject(dist) ? sumsIn(dist) : []);
  }
  return { versions, tags };
}

/** What clients are shown here of a package, whether or not the caller may list libraries. */
export async function shownHere(rest: RestClient, into: string, name: string): Promise<PackageHere> {
  const { manifests, tags } = await packumentHere(rest, into, name);
  const versions = [...manifests].map(([version, { dist }]) => [version, isObject(dist) ? sumsIn(dist) : []] as const);
  return { versions: new Map(versions), tags };
}

async function packumentHere(
  rest: RestClient,
  into: string,
  name: string,
): Promise<{ manifests: Map<string, Record<string, unknown>>; tags: Map<string, string> }> {
  const path = `${registryPath(into)}/${packagePath(name)}`;
  const response = await rest.fetch(path, { audience: "registry", headers: { accept: "application/json" } });
  if (response.status === 404) return { manifests: new Map(), tags: new Map() };
  const body: unknown = await (response.ok ? response.json() : response.text()).catch(() => undefined);
  if (!isObject(body)) throw refused(response.status, typeof body === "string" ? body : "");
  const { versions, "dist-tags": tags } = body;
  const manifests = Object.entries(isObject(versions) ? versions : {}).filter(
    (each): each is [string, Record<string, unknown>] => isObject(each[1]),
  );
  const said = Object.entries(isObject(tags) ? tags : {}).map(([tag, version]) => [tag, String(version)] as const);
  return { manifests: new Map(manifests), tags: new Map(said) };
}

/** The path of the npm registry of a group. */
export function registryPath(group: string): string {
  return `/npm/${group.split("/").map(encodeURIComponent).join("/")}`;
}
