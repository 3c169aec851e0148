import { type Candidate, candidatesOf, cutsOf, isSameRelease, statedVersion, stemOf } from "./java-file-name.ts";
import { type Manifest, nameIn, namesIn, versionsIn } from "./java-manifest.ts";
import type { Coordinates } from "./java-pom.ts";

/** What an archive says of itself, by which its group may be found where feeds know the artifact. */
export interface ArchiveClues {
  /** What may be its artifact and version, the likeliest first. */
  candidates: readonly Candidate[];
  /** The names in its manifest, in the order of the fields. */
  names: readonly string[];
  /** The folders in which its classes lie, down to the third, with how many, the most first; not those with few. */
  folders: readonly (readonly [folder: string, classes: number])[];
  /** How many classes there are in all. */
  classes: number;
  /** Of all of its bytes, in hex. */
  sha1: string;
}

/** Counts classes by their folders. */
export class ClassFolders {
  readonly #counts = new Map<string, number>();
  #classes = 0;

  get classes(): number {
    return this.#classes;
  }

  /** Counts the entry of an archive if it is a class of it. */
  see(name: string): void {
    if (!name.endsWith(".class") || name.endsWith("module-info.class")) return;
    const own = name.replace(/^(?:BOOT-INF\/classes|WEB-INF\/classes|META-INF\/versions\/\d{1,3})\//, "");
    this.#classes += 1;
    const folder = own.slice(0, MAX_FOLDER).split("/").slice(0, -1).slice(0, FOLDER_DEPTH).join("/");
    const count = this.#counts.get(folder);
    // No letter that JSON writes as several.
    if (/^[\w$/-]+$/.test(folder) && (count !== undefined || this.#counts.size < MAX_FOLDERS))
      this.#counts.set(folder, (count ?? 0) + 1);
  }

  list(): [string, number][] {
    return [...this.#counts].sort(([, a], [, b]) => b - a).slice(0, MAX_LISTED);
  }
}

/** How many levels of folders are distinguished. */
export const FOLDER_DEPTH = 3;
const MAX_FOLDER = 120;
const MAX_FOLDERS = 1_000;
const MAX_LISTED = 12;
const MAX_NAMES = 6;
const MAX_CANDIDATES = 10;

/** What the archive says of itself; `sha1` is to be filled in. */
export function cluesOf(path: string, manifest: Manifest, classes: ClassFolders): ArchiveClues {
  const stem = stemOf(path);
  const names = namesIn(manifest).slice(0, MAX_NAMES);
  const versions = versionsIn(manifest);
  const { found, isOther } = candidatesOf(stem, versions);
  const version = statedVersion(versions);
  // A file that has been given another version may be anything.
  const stated = version === undefined || found.length > 0 || isOther ? [] : artifactsIn([...names, stem]);
  const candidates = [...found, ...stated.map((artifact): Candidate => [artifact, version ?? ""])];
  return {
    candidates: candidates.slice(0, MAX_CANDIDATES),
    names,
    folders: classes.list(),
    classes: classes.classes,
    sha1: "",
  };
}

/** Names of artifacts: `org.apache.tomcat-embed-core` may be `tomcat-embed-core` of a group that begins so. */
function artifactsIn(names: readonly string[]): string[] {
  const all = names.flatMap((name) => [name, name.slice(name.lastIndexOf(".") + 1)]);
  return [...new Set(all.filter((name) => /^\w[\w.-]*$/.test(name)))];
}

/**
 * The coordinates that Maven or a plugin of Gradle wrote into the manifest: a title `group#artifact;version`, or the
 * group, artifact and version in fields of their own. Undefined where they do not fit the name of the file, or the
 * group does not fit the classes: others write their company and a name for people into the same fields.
 */
export function statedCoordinates(path: string, manifest: Manifest, classes: ClassFolders): Coordinates | undefined {
  const versions = versionsIn(manifest);
  const title = (manifest.get("implementation-title") ?? "").slice(0, 400);
  const [, group, artifact, stated] = /^([\w.-]+)[#:]([\w.-]+)(?:[;:]([\w.+-]+))?$/.exec(title) ?? [];
  const namespace = group ?? nameIn(manifest, "implementation-vendor-id");
  const name = artifact ?? nameIn(manifest, "implementation-title");
  const version = stated ?? versions[0];
  if (version === undefined || name === "" || !namespace.includes(".")) return undefined;
  const { found, isOther } = candidatesOf(stemOf(path), versions.length === 0 ? [version] : versions);
  const inFile = found.find(([each]) => each === name);
  if (isOther || (found.length > 0 && inFile === undefined)) return undefined;
  if (group === undefined && !fits(namespace, name, classes)) return undefined;
  return { namespace, name, version: inFile?.[1] ?? version };
}

function fits(group: string, artifact: string, classes: ClassFolders): boolean {
  if (classes.classes === 0) return true;
  const labels = group.split(".");
  const folder = labels.slice(0, FOLDER_DEPTH).join("/");
  let count = 0;
  for (const [each, number] of classes.list()) if (`${each}/`.startsWith(`${folder}/`)) count += number;
  // A company is not the group of all that it makes.
  const isNamed = labels.length > 2 || artifact.includes(labels.at(-1) ?? "");
  return isNamed && count * 2 >= classes.classes;
}

/** Whether one of the poms in an archive is its own, not that of something that was packed into it. */
export function isAnyOwn(poms: readonly Coordinates[], path: string, manifest: Manifest): boolean {
  const [first, ...others] = poms;
  if (first === undefined) return false;
  const stem = stemOf(path);
  const versions = versionsIn(manifest);
  const cuts = cutsOf(stem);
  const names = namesIn(manifest);
  const artifacts = [...cuts.map(([artifact]) => artifact), ...artifactsIn([stem, ...names])];
  if (poms.some(({ name, namespace }) => artifacts.includes(name) || names.includes(`${namespace}.${name}`)))
    return true;
  const stated = [...cuts.map(([, version]) => version), ...versions];
  // Nothing else says what the archive is.
  if (stated.length === 0 && names.length === 0) return true;
  return others.length === 0 && stated.some((version) => isSameRelease(version, first.version));
}
