import { type ArchiveClues, FOLDER_DEPTH } from "./readers/java-clues.ts";
import type { Coordinates } from "./readers/java-pom.ts";

/** The groups of which feeds know an artifact of that name. */
export type KnownGroups = (artifact: string) => readonly string[];

/** Names that artifacts of many projects have: of these the classes say too little. */
const COMMON_NAMES = new Set(
  "all api app application base boot client common commons connector core data ext http impl java jdbc json lib main model parent parser plugin provider runtime security server service shared spi test tests tools util utilities utils web xml".split(
    " ",
  ),
);
/** As many labels of a group are compared with folders: those behind it are often of the artifact alone. */
const COMPARED_LABELS = 3;
/** Names of domains that begin with one of these, or with the two letters of a country, are of somebody. */
const TOP_DOMAINS = new Set(["com", "org", "net", "edu", "gov", "info", "dev"]);
const MIN_FOLDER = 4;

/**
 * The coordinates of an archive by what it says of itself and what feeds know; undefined where none fit, or more than
 * one. A group fits when the manifest names it, or when most of the classes lie where that group has them or the
 * manifest names a part of it, and nothing in the manifest names somebody else.
 */
export function identify(clues: ArchiveClues, groupsOf: KnownGroups): Coordinates | undefined {
  const found = new Map<string, Coordinates>();
  for (const [name, version] of clues.candidates) {
    const namespace = groupOf(name, groupsOf(name), clues);
    if (namespace !== undefined) found.set(`${namespace}:${name}:${version}`, { namespace, name, version });
  }
  const [only] = found.values();
  return found.size === 1 ? only : undefined;
}

function groupOf(artifact: string, known: readonly string[], clues: ArchiveClues): string | undefined {
  const named = known.filter((group) => clues.names.includes(group));
  if (named.length > 0) return named.length === 1 ? named[0] : undefined;
  if (COMMON_NAMES.has(artifact.toLowerCase())) return undefined;
  const possible = known.filter((group) => !clues.names.some((name) => isOfAnother(name, group)));
  for (const fits of [isByPath, isByName, isByLastLabel]) {
    const fitting = possible.filter((group) => fits(group, clues));
    if (fitting.length > 0) return fitting.length === 1 ? fitting[0] : undefined;
  }
  return undefined;
}

/** Whether a name such as `org.apache.groovy` is of somebody else than the group. */
function isOfAnother(name: string, group: string): boolean {
  const [ours, theirs] = [domainOf(name), domainOf(group)];
  return ours !== undefined && theirs !== undefined && ours !== theirs;
}

/** The first two labels of a name that begins with a domain. */
function domainOf(name: string): string | undefined {
  const [top = "", second] = name.split(".");
  return second !== undefined && (TOP_DOMAINS.has(top) || /^[a-z]{2}$/.test(top)) ? `${top}.${second}` : undefined;
}

/**
 * Whether most classes lie below what is the group's: its first two labels, some below the third as well; of a group
 * that is no domain, such as `commons-collections`, where its words are names of folders.
 */
function isByPath(group: string, { folders, classes }: ArchiveClues): boolean {
  const labels = group.split(".");
  if (labels.length === 1) {
    const words = group.split("-");
    return isMost(folders, classes, (folder) => areFolders(words, folder.split("/")));
  }
  const [domain, path] = [labels.slice(0, 2).join("/"), labels.slice(0, COMPARED_LABELS).join("/")];
  return (
    folders.some(([folder]) => isBelow(folder, path)) && isMost(folders, classes, (folder) => isBelow(folder, domain))
  );
}

/** Whether the words are names of folders; behind the first they may lie deeper than folders are listed. */
function areFolders(words: readonly string[], path: readonly string[]): boolean {
  return (path.length === FOLDER_DEPTH && path.at(-1) === words[0]) || words.every((word) => path.includes(word));
}

/**
 * Whether the manifest names a part of the group, whatever the hyphens: `org.apache.tomcat-catalina` is of
 * org.apache.tomcat, and `org.scala-lang.scala-library` of org.scala-lang. A group without a domain is never named so.
 */
function isByName(group: string, { names }: ArchiveClues): boolean {
  const dotted = (text: string): string => text.replaceAll("-", ".");
  return domainOf(group) !== undefined && names.some((name) => dotted(name).startsWith(`${dotted(group)}.`));
}

/** Whether most classes lie in a folder at the top that the group ends with: `okhttp3` of `com.squareup.okhttp3`. */
function isByLastLabel(group: string, { folders, classes }: ArchiveClues): boolean {
  const last = group.slice(group.lastIndexOf(".") + 1);
  return last.length >= MIN_FOLDER && isMost(folders, classes, (folder) => isBelow(folder, last));
}

function isMost(folders: ArchiveClues["folders"], classes: number, holds: (folder: string) => boolean): boolean {
  let count = 0;
  for (const [folder, number] of folders) if (holds(folder)) count += number;
  return count > 0 && count * 2 >= classes;
}

function isBelow(folder: string, path: string): boolean {
  return folder === path || folder.startsWith(`${path}/`);
}
