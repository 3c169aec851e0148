// Words for a value from a server's lists: paths are completed a level at a time, as those of files are.
import { versionMark } from "../api/library-names.ts";
import { hasUidOfGroup, type Kind } from "../api/name-kinds.ts";
import type { Named } from "./cache.ts";
import { type Candidate, starting } from "./candidates.ts";
import type { Lists } from "./lists.ts";
import type { Source } from "../command/completion-sources.ts";

// What is called by its own name or number alone, wherever it is.
const FLAT: readonly Source[] = ["binding", "subscription", "mapping", "invite", "advisory", "upstream", "policy"];

/** The names that begin with the text. */
export async function wordsFor(source: Source, text: string, lists: Lists): Promise<Candidate[]> {
  if (/^[0-9a-f]{40}(?:\/|$)/.test(text)) return [];
  if (source === "feed")
    return starting((await lists.other("/operations/v2/feeds", "feeds", "name", "url")).items.map(plain), text);
  if (FLAT.includes(source)) return starting((await lists.of(source as Kind, undefined)).items.map(plain), text);
  const colon = text.indexOf(":");
  if (source === "image" || source === "tag") {
    if (colon >= 0) return text.includes("@") ? [] : tagsOf(text.slice(0, colon), text.slice(colon + 1), lists);
    const paths = await pathsOf("repo", text, lists);
    const only = paths.find(({ word }) => !word.endsWith("/"));
    // Of one repo that is left, its tags are what is looked for.
    if (only !== undefined && paths.length === 1) {
      const tags = await tagsOf(only.word, "", lists);
      return source === "tag" ? tags : [only, ...tags];
    }
    return paths.map((each) =>
      source === "tag" && !each.word.endsWith("/") ? { ...each, word: `${each.word}:` } : each,
    );
  }
  if (source === "library" || source === "version") return librariesOf(source, text, lists);
  return pathsOf(hasUidOfGroup(source) ? "group" : (source as Kind), text, lists);
}

/** Groups with a colon after them, then the libraries of one, and of one of these its versions. */
async function librariesOf(source: "library" | "version", text: string, lists: Lists): Promise<Candidate[]> {
  const colon = text.indexOf(":");
  if (colon < 0)
    return (await pathsOf("group", text, lists)).map((each) =>
      each.word.endsWith("/") ? each : { ...each, word: `${each.word}:` },
    );
  const front = text.slice(0, colon + 1);
  const parent = await groupAt(text.slice(0, colon), lists);
  if (parent === undefined) return [];
  const libraries = await itemsOf("library", parent, lists);
  const end = source === "version" ? "@" : "";
  const at = versionMark(text);
  const chosen = libraries.find(([, name]) => `${front}${name}` === text.slice(0, Math.max(0, at)));
  if (source === "library" || chosen === undefined)
    return starting(
      libraries.map(plain).map(({ word, help }) => ({ word: `${front}${word}${end}`, help })),
      text,
    );
  const path = `/libraries/v2/artifacts/${encodeURIComponent(chosen[0])}/versions`;
  const versions = (await lists.other(path, "artifactVersions", "version", "description")).items;
  return starting(
    versions.map(plain).map(({ word, help }) => ({ word: `${text.slice(0, at + 1)}${word}`, help })),
    text,
  );
}

/** Groups, with a slash where others may follow, and resources of the kind, below the path at the text's beginning. */
async function pathsOf(kind: Kind, text: string, lists: Lists): Promise<Candidate[]> {
  const cut = text.lastIndexOf("/");
  const path = cut < 0 ? "" : text.slice(0, cut);
  const front = cut < 0 ? "" : `${path}/`;
  const parent = path === "" ? "" : await groupAt(path, lists);
  if (parent === undefined) return kind === "repo" ? searched(text, lists) : [];
  const [groups, own] = await Promise.all([
    groupsBelow(parent, lists),
    kind === "group" || (kind === "repo" && parent === "") ? [] : itemsOf(kind, parent, lists),
  ]);
  const below = groups.flatMap((group): Candidate[] => {
    const { word, help } = plain(group);
    const open = { word: `${front}${word}/`, help };
    return kind === "group" ? [{ word: `${front}${word}`, help }, open] : [open];
  });
  const found = starting(
    [...below, ...own.map(plain).map(({ word, help }) => ({ word: `${front}${word}`, help }))],
    text,
  );
  if (found.length === 0 && kind === "repo") return searched(text, lists);
  return kind === "group" ? withoutEmpty(found, lists) : found;
}

/** Leaves out the form with a slash of groups that have no groups below them, where it is the only question left. */
async function withoutEmpty(found: Candidate[], lists: Lists): Promise<Candidate[]> {
  const [only, open] = found;
  if (found.length !== 2 || only === undefined || open?.word !== `${only.word}/`) return found;
  const uid = await groupAt(only.word, lists);
  const inside = uid === undefined ? [] : await groupsBelow(uid, lists);
  return inside.length === 0 ? [only] : found;
}

async function itemsOf(kind: Kind, parent: string, lists: Lists): Promise<readonly Named[]> {
  return (await lists.of(kind, parent)).items;
}

/** The groups below one; at the root those whose parent the caller does not see. */
async function groupsBelow(parent: string, lists: Lists): Promise<readonly Named[]> {
  const { items } = await lists.of("group", parent);
  if (items.length > 0 || parent !== "") return items;
  const all = (await lists.of("group", undefined)).items;
  const seen = new Set(all.map(([uid]) => uid));
  return all.filter(([uid]) => !seen.has(uid.slice(0, Math.max(0, uid.lastIndexOf("/")))));
}

async function groupAt(path: string, lists: Lists): Promise<string | undefined> {
  let parent = "";
  for (const name of path.split("/")) {
    const found = (await groupsBelow(parent, lists)).find(([, word]) => word === name);
    if (found === undefined) return undefined;
    [parent] = found;
  }
  return parent;
}

/** Repos in groups that the caller does not see. */
async function searched(text: string, lists: Lists): Promise<Candidate[]> {
  return text.length < 2 ? [] : starting((await lists.search(text)).items.map(plain), text);
}

async function tagsOf(path: string, text: string, lists: Lists): Promise<Candidate[]> {
  const cut = path.lastIndexOf("/");
  const group = await groupAt(path.slice(0, Math.max(0, cut)), lists);
  const repos = group === undefined ? (await lists.search(path)).items : await itemsOf("repo", group, lists);
  const name = group === undefined ? path : path.slice(cut + 1);
  const uid = repos.find(([, word]) => word === name)?.[0] ?? (await hiddenRepo(path, lists));
  if (uid === undefined) return [];
  const { items, more } = await lists.of("tag", uid);
  const found = more && text.length >= 2 ? (await lists.search(text, uid)).items : items;
  return starting(found.map(plain), text).map(({ word, help }) => ({ word: `${path}:${word}`, help }));
}

/** A repo that is not among the first of its group. */
async function hiddenRepo(path: string, lists: Lists): Promise<string | undefined> {
  return (await lists.search(path)).items.find(([, word]) => word === path)?.[0];
}

function plain([, word, help]: Named): Candidate {
  return { word, help };
}
