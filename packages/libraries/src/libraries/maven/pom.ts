import type { Coordinates } from "./paths.ts";
import { readXml } from "./xml.ts";

/** A license as a POM names it. */
export interface PomLicense {
  name: string;
  url: string;
}

/** What is read of a POM. What is not in it is empty. */
export interface Pom extends Coordinates {
  version: string;
  name: string;
  /** What lists show of the project: its description, or else its name. */
  summary: string;
  packaging: string;
  licenses: readonly PomLicense[];
  parent: (Coordinates & { version: string }) | undefined;
}

const MAX_LICENSES = 20;
const MAX_SUMMARY_CHARS = 512;
/** No name of a license and no URL of one has more. */
const MAX_LICENSE_CHARS = 1_000;
const MAX_TEXT_CHARS = 1_000;
const OWN = ["groupId", "artifactId", "version", "name", "packaging"] as const;
const READ = new Set<string>([...OWN, "description", "parent/groupId", "parent/artifactId", "parent/version"]);

/**
 * Reads a project's POM; undefined for a text that is none. What is inherited from its parent is not in it. Source:
 * Maven, POM 4.0.0.
 */
export function pomOf(text: string): Pom | undefined {
  const found = new Map<string, string>();
  const licenses: PomLicense[] = [];
  let license: PomLicense = { name: "", url: "" };
  const isPom = readXml(text, "project", (path, value) => {
    if (path === "licenses/license/name") license.name = value.slice(0, MAX_LICENSE_CHARS);
    else if (path === "licenses/license/url") license.url = value.slice(0, MAX_LICENSE_CHARS);
    else if (path === "licenses/license") {
      if (licenses.length < MAX_LICENSES) licenses.push(license);
      license = { name: "", url: "" };
    } else if (READ.has(path)) found.set(path, value.slice(0, MAX_TEXT_CHARS));
  });
  if (!isPom) return undefined;
  const at = (path: string): string => found.get(path) ?? "";
  const parent = {
    groupId: at("parent/groupId"),
    artifactId: at("parent/artifactId"),
    version: at("parent/version"),
  };
  const own = Object.fromEntries(OWN.map((key) => [key, at(key)])) as Record<(typeof OWN)[number], string>;
  return {
    ...own,
    groupId: own.groupId === "" ? parent.groupId : own.groupId,
    version: own.version === "" ? parent.version : own.version,
    summary: (at("description") === "" ? own.name : at("description")).slice(0, MAX_SUMMARY_CHARS),
    licenses,
    parent: parent.artifactId === "" ? undefined : parent,
  };
}

/** The prefix of a plugin's goals, by the descriptor in its jar. Source: Maven, plugin descriptor. */
export function pluginPrefixOf(text: string): string | undefined {
  let prefix: string | undefined;
  const isDescriptor = readXml(text, "plugin", (path, value) => {
    if (path === "goalPrefix") prefix = value;
  });
  return isDescriptor ? prefix : undefined;
}
