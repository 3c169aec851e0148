import { isVersion } from "../../lib/versions/index.ts";
import { libraryError } from "../http/errors.ts";

/** The sums that are served and taken beside each file, by the ending of their names. */
export const SUMS = ["md5", "sha1", "sha256", "sha512"] as const;
export type Sum = (typeof SUMS)[number];

/** A Maven artifact by its coordinates. */
export interface Coordinates {
  groupId: string;
  artifactId: string;
}

/**
 * What a path below `/maven/` names: the path of the group, and what of it is wanted; `sum`: one of its sums instead.
 */
export type MavenPath = { group: readonly string[]; sum?: Sum } & (
  | ({ kind: "file"; version: string; file: string } & Coordinates)
  /** `maven-metadata.xml` of an artifact, or of a groupId: which of them shows what is there. */
  | ({ kind: "metadata" } & Coordinates)
  /** `maven-metadata.xml` of a snapshot. */
  | ({ kind: "snapshot-metadata"; version: string } & Coordinates)
);

const METADATA = "maven-metadata.xml";
const SNAPSHOT = "-SNAPSHOT";
/** What Maven allows in groupIds, artifactIds, and so in directories. */
const ID = /^[A-Za-z0-9_.-]+$/;
const FILE = /^[A-Za-z0-9_.+~-]+$/;
const MAX_LENGTH = 512;

/**
 * Reads `<group path>/-/<path in a Maven repository>`, in segments. Throws 404, and 400 for names that Maven does not
 * allow. Source: Maven, "repository layout".
 */
export function mavenPathOf(segments: readonly string[]): MavenPath {
  const at = segments.indexOf("-");
  const group = segments.slice(0, at);
  if (at < 1 || group.includes("")) throw libraryError(404, "Not found: a Maven repository is at /maven/<group>/-/");
  const parts = segments.slice(at + 1);
  if (parts.join("/").length > MAX_LENGTH) throw libraryError(400, "Invalid argument: path: is too long");
  const given = parts.at(-1) ?? "";
  const sum = SUMS.find((ending) => given.endsWith(`.${ending}`));
  const last = sum === undefined ? given : given.slice(0, -sum.length - 1);
  const common = { group, ...(sum !== undefined && { sum }) };
  const folders = parts.slice(0, -1);
  for (const folder of folders) if (!ID.test(folder) || /^\.+$/.test(folder)) throw unknown(folder);
  // `com..acme` would be the folder of `com.acme` in an upstream, and no rule about that name would hold for it.
  for (const folder of folders.slice(0, -1)) if (/^\.|\.\.|\.$/.test(folder)) throw unknown(folder);
  if (last === METADATA) {
    const version = folders.at(-1) ?? "";
    if (folders.length >= 3 && version.endsWith(SNAPSHOT))
      return { kind: "snapshot-metadata", ...coordinatesOf(folders.slice(0, -1)), version, ...common };
    return { kind: "metadata", ...coordinatesOf(folders), ...common };
  }
  if (folders.length < 3) throw libraryError(404, "Not found: there are no files above the folder of a version");
  const version = folders.at(-1) ?? "";
  const coordinates = coordinatesOf(folders.slice(0, -1));
  if (!FILE.test(last) || !isVersion("maven", version)) throw unknown(last);
  const stem = `${coordinates.artifactId}-${baseOf(version)}`;
  if (!last.startsWith(stem) || !/^[.-]/.test(last.slice(stem.length)))
    throw libraryError(400, `Invalid argument: path: the name of a file here begins with ${stem}, not ${last}`);
  return { kind: "file", ...coordinates, version, file: last, ...common };
}

/**
 * Whether the text can be the name of a folder: no path, and nothing that is another path when it is written in one.
 */
export function isPathName(text: string): boolean {
  return FILE.test(text) && !/^\.+$/.test(text) && text.length <= MAX_LENGTH;
}

/** Whether versions of this number are snapshots. */
export function isSnapshot(version: string): boolean {
  return version.endsWith(SNAPSHOT);
}

/** The version without `-SNAPSHOT`. */
export function baseOf(version: string): string {
  return isSnapshot(version) ? version.slice(0, -SNAPSHOT.length) : version;
}

/** The name of an artifact in lists: `org.example:app`. */
export function nameOf({ groupId, artifactId }: Coordinates): string {
  return `${groupId}:${artifactId}`;
}

function coordinatesOf(folders: readonly string[]): Coordinates {
  return { groupId: folders.slice(0, -1).join("."), artifactId: folders.at(-1) ?? "" };
}

function unknown(name: string): Error {
  return libraryError(400, `Invalid argument: path: ${JSON.stringify(name)} is no name in a Maven repository`);
}
