import { isVersion } from "@moorage/kernel/lib/versions";
import { libraryError } from "../http/errors.ts";

/** The sums that are served and taken beside each file, by the ending of their names. */
const SUMS = ["md5", "sha1", "sha256", "sha512"] as const;

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

/** What Maven allows in groupIds and artifactIds, and so in their folders. */
const ID = /^[A-Za-z0-9_.-]+$/;

/**
 * What is allowed in versions, and so in the names of files: what else Maven takes would be another path in some URLs.
 */
const NAME = /^[A-Za-z0-9_.+~!=$@-]+$/;
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
  for (const folder of folders.slice(0, -1)) if (!ID.test(folder)) throw unknown(folder);
  for (const folder of folders.slice(-1)) if (!isPathName(folder)) throw unknown(folder);
  // `com..acme` would be the folder of `com.acme` in an upstream, and no rule about that name would hold for it.
  for (const folder of folders.slice(0, -1)) if (/^\.|\.\.|\.$/.test(folder)) throw unknown(folder);
  if (last === METADATA) {
    const version = folders.at(-1) ?? "";
    if (folders.length >= 3 && version.endsWith(SNAPSHOT))
      return { kind: "snapshot-metadata", ...coordinatesOf(folders.slice(0, -1)), version, ...common };
    if (folders.length > 0 && !ID.test(version)) throw libraryError(404, "Not found: a release has no metadata");
    return { kind: "metadata", ...coordinatesOf(folders), ...common };
  }
  if (folders.length < 3) throw libraryError(404, "Not found: there are no files above the folder of a version");
  const version = folders.at(-1) ?? "";
  const coordinates = coordinatesOf(folders.slice(0, -1));
  if (!NAME.test(last) || !isVersion("maven", version)) throw unknown(last);
  if (endingOf(coordinates.artifactId, version, last) === undefined) {
    const stems = namesInFiles(coordinates.artifactId).map((name) => `${name}-${baseOf(version)}`);
    const begins = stems.join(" or ");
    throw libraryError(400, `Invalid argument: path: the name of a file here begins with ${begins}, not ${last}`);
  }
  return { kind: "file", ...coordinates, version, file: last, ...common };
}

/**
 * Whether the text can be the name of a folder: no path, and nothing that is another path when it is written in one.
 */
export function isPathName(text: string): boolean {
  return NAME.test(text) && !/^\.+$/.test(text) && text.length <= MAX_LENGTH;
}

/** Whether versions of this number are snapshots. */
export function isSnapshot(version: string): boolean {
  return version.endsWith(SNAPSHOT);
}

/** The version without `-SNAPSHOT`. */
export function baseOf(version: string): string {
  return isSnapshot(version) ? version.slice(0, -SNAPSHOT.length) : version;
}

const SCALA_VERSION = /^\d{1,4}(?:\.\d{1,4}){0,3}(?:-[A-Za-z0-9.-]{1,64})?$/;

/**
 * What the names of an artifact's files begin with: its artifactId. Plugins of sbt before 1.9 leave out the versions of
 * Scala and sbt there, and in the POM: `sbt-x_2.12_1.0/1.2/sbt-x-1.2.pom`. Source: sbt,
 * "sbtPluginPublishLegacyMavenStyle".
 */
export function namesInFiles(artifactId: string): [string] | [string, string] {
  const [name, scala = "", sbt = ""] = splitEnd(artifactId);
  return name !== "" && SCALA_VERSION.test(scala) && SCALA_VERSION.test(sbt) ? [artifactId, name] : [artifactId];
}

/** A text without what follows its last two underscores, and these. */
function splitEnd(text: string): [string, string, string] {
  const last = text.lastIndexOf("_");
  const first = last < 1 ? -1 : text.lastIndexOf("_", last - 1);
  return first < 1 ? ["", "", ""] : [text.slice(0, first), text.slice(first + 1, last), text.slice(last + 1)];
}

/**
 * What follows the name and the version in the name of a file, such as `-sources.jar`; of a snapshot with its time
 * stamp. Undefined for a file of another artifact.
 */
export function endingOf(artifactId: string, version: string, file: string): string | undefined {
  for (const name of namesInFiles(artifactId)) {
    const stem = `${name}-${baseOf(version)}`;
    if (file.startsWith(stem) && /^[.-]/.test(file.slice(stem.length))) return file.slice(stem.length);
  }
  return undefined;
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

/** The coordinates of one version. */
export interface Release extends Coordinates {
  version: string;
}
