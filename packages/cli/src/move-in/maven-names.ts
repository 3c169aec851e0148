// Names of Maven artifacts and of their files, as this registry takes them. Source: Maven, "repository layout".
import { isVersion } from "@moorage/kernel/lib/versions";

const MAX_PATH_CHARS = 512;
const ID = /^[A-Za-z0-9_.-]+$/;
const NAME = /^[A-Za-z0-9_.+~!=$@-]+$/;
const DERIVED = /\.(?:md5|sha1|sha256|sha512)$/;
const METADATA = "maven-metadata.xml";

/** A file by its place in a Maven repository: `org/example/app/1.0/app-1.0.jar`. */
export interface MavenFilePlace {
  /** `org.example:app` */
  artifact: string;
  version: string;
  file: string;
}

/** Where a file is; undefined for a path that is not that of a file of a version. */
export function mavenPlaceOf(path: string): MavenFilePlace | undefined {
  const parts = path.split("/");
  const file = parts.pop() ?? "";
  const version = parts.pop() ?? "";
  const artifactId = parts.pop() ?? "";
  if (parts.length === 0 || parts.includes("")) return undefined;
  return { artifact: `${parts.join(".")}:${artifactId}`, version, file };
}

/** Whether what is at the path is made here of the other files: metadata and sums. */
export function isDerived(path: string): boolean {
  const file = path.slice(path.lastIndexOf("/") + 1);
  return DERIVED.test(file) || file === METADATA;
}

/** Why a file at the path cannot be published here, as far as that says; undefined when it can. */
export function faultOfMavenPath(path: string): string | undefined {
  if (path.length > MAX_PATH_CHARS) return `its path is longer than ${MAX_PATH_CHARS} characters`;
  const place = mavenPlaceOf(path);
  if (place === undefined) return "its path is not that of a file of a version";
  const { artifact, version, file } = place;
  const fault = faultOfArtifact(artifact);
  if (fault !== undefined) return fault;
  const isName = [version, file].every((each) => NAME.test(each) && !/^\.+$/.test(each));
  return isName && isVersion("maven", version) ? undefined : "its version or its name is not one of a Maven repository";
}

/** Why a text is not the name of an artifact, as `org.example:app`; undefined when it is. */
export function faultOfArtifact(name: string): string | undefined {
  const [groupId = "", artifactId = "", ...rest] = name.split(":");
  const isOne = rest.length === 0 && name.length <= MAX_PATH_CHARS && ID.test(groupId) && ID.test(artifactId);
  const isPath = !/^\.|\.\.|\.$/.test(groupId) && !/^\.|\.\.|\.$/.test(artifactId);
  return isOne && isPath
    ? undefined
    : "its name is not valid for a Maven artifact: it takes letters, digits, and . _ -";
}

/** Where an item of a plan is: the index, and what follows it: the artifact, or the path of a file. */
export function mavenItemOf({ source }: { source: string }): { index: string; rest: string } {
  const cut = source.indexOf("/");
  return { index: source.slice(0, cut), rest: source.slice(cut + 1) };
}
