// Lists of a server for completion: from the cache while they are fresh, by REST otherwise.
import { objectsIn } from "../api/json-fields.ts";
import { type Kind, KINDS } from "../api/name-kinds.ts";
import type { JsonObject } from "../api/failure.ts";
import type { Kept, Named } from "./cache.ts";
import type { Caller, Place } from "./caller.ts";
import { getJson } from "./get-json.ts";

const FRESH_MS = 10_000;
const PAGE_SIZE = 200;
const MAX_PAGES = 5;

/** What is asked for: a path with its query, the field of the answer, and what is kept of each item. */
interface Question {
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly field: string;
  readonly pages?: number;
  named(item: JsonObject): Named;
}

/** A server's lists. A list that cannot be had is empty. */
export interface Lists {
  /** Those of a kind below a parent; at the root for an empty uid, all for undefined. */
  of(kind: Kind, parent: string | undefined): Promise<Kept>;
  /** Repos by a part of their path, tags of a repo by a part of their name; the text has two characters or more. */
  search(text: string, repo?: string): Promise<Kept>;
  /** Another list, by its path and field; `word` is the name of the field that is offered, `help` of that beside it. */
  other(path: string, field: string, word: string, help: string): Promise<Kept>;
}

const NONE: Kept = { items: [], more: false };

/** Lists by requests until the signal is aborted; without a signal what the cache has, however old. */
export function listsOf({ place, cache }: Caller, signal: AbortSignal | undefined): Lists {
  let known: Promise<Place> | undefined;

  const ask = async ({ path, query, field, pages = MAX_PAGES, named }: Question): Promise<Kept> => {
    const key = `${path}?${query.map((pair) => pair.join("=")).join("&")}`;
    const kept = cache.read<Kept>(key, signal && FRESH_MS);
    if (kept !== undefined) return kept;
    if (signal === undefined) return NONE;
    const { url, token } = await (known ??= place());
    const items: Named[] = [];
    let pageToken = "";
    for (let page = 0; page < pages; page += 1) {
      const params = new URLSearchParams(
        [...query, ["page_size", String(PAGE_SIZE)]].map(([name = "", value = ""]) => [name, value]),
      );
      if (pageToken !== "") params.set("page_token", pageToken);
      const answer = await getJson(`${url}${path}?${params}`, token, signal);
      items.push(...objectsIn(answer, field).map(named));
      pageToken = textOf(answer["nextPageToken"]);
      if (pageToken === "") break;
    }
    const found: Kept = { items, more: pageToken !== "" };
    cache.write(key, found);
    return found;
  };

  return {
    of(kind, parent) {
      const { path, field, query: needed = {} } = KINDS[kind];
      const query = [
        ...Object.entries(needed).flatMap(([name, values]) => values.map((value) => [name, value] as const)),
        ...(parent === undefined
          ? []
          : [parent === "" ? (["uidp.in_root", "true"] as const) : (["uidp.children_of", parent] as const)]),
      ];
      return ask({ path, query, field, named: NAMED[kind] ?? byName });
    },
    search(text, repo) {
      const query = [
        ["query", text],
        ["kinds", repo === undefined ? "REPO" : "TAG"],
        ...(repo === undefined ? [] : [["uidp.descendants_of", repo] as const]),
      ] as const;
      const named = ({ repoUid, tagUid, name, tag, digest }: JsonObject): Named =>
        repo === undefined ? [textOf(repoUid), textOf(name), ""] : [textOf(tagUid), textOf(tag), short(digest)];
      return ask({ path: "/registry/v2/search", query, field: "results", pages: 1, named });
    },
    other(path, field, word, help) {
      return ask({ path, query: [], field, named: (item) => ["", textOf(item[word]), textOf(item[help])] });
    },
  };
}

const byName = ({ uid, name, description }: JsonObject): Named => [textOf(uid), textOf(name), textOf(description)];

// What is kept of kinds that are called by something else than their name, or that have more to say.
const NAMED: Partial<Record<Kind, (item: JsonObject) => Named>> = {
  tag: ({ uid, name, digest }) => [textOf(uid), textOf(name), short(digest)],
  identity: ({ uid, name, email, description }) => {
    const parent = textOf(uid).includes("/");
    return [textOf(uid), parent ? textOf(name) : textOf(email) || textOf(name), textOf(description) || textOf(name)];
  },
  binding: ({ uid, identity, role }) => [textOf(uid), textOf(uid), `${nameIn(identity)}: ${nameIn(role)}`],
  subscription: ({ uid, sink, description }) => [textOf(uid), textOf(sink), textOf(description)],
  mapping: ({ uid, externalGroupId }) => [textOf(uid), textOf(uid), textOf(externalGroupId)],
  invite: ({ uid, keyId, email }) => [textOf(uid), textOf(keyId), textOf(email)],
  upstream: ({ uid, url }) => [textOf(uid), textOf(uid), textOf(url)],
  policy: ({ uid, ecosystem, mode }) => [textOf(uid), textOf(uid), `${textOf(ecosystem)} ${textOf(mode)}`],
  advisory: ({ uid, advisoryId, componentName }) => [textOf(uid), textOf(advisoryId), textOf(componentName)],
};

function nameIn(value: unknown): string {
  return typeof value === "object" && value !== null && "name" in value ? textOf(value.name) : "";
}

function short(digest: unknown): string {
  return textOf(digest).replace(/^(\w+:[0-9a-f]{12})[0-9a-f]*$/, "$1");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
