// From uids to paths of names, for output.
import { objectsIn } from "./json-fields.ts";
import { ecosystemWord, type Kind, KINDS, isUid, parentOf } from "./name-kinds.ts";
import type { JsonObject, RestClient } from "./rest.ts";

// A uid of six levels has 125 characters; servers take URLs of some kilobytes.
const MAX_IDS = 40;
const MAX_REMEMBERED = 20_000;

// What is called by its parent's path, a colon and its own name.
const WITH_COLON: readonly Kind[] = [
  "tag",
  "binding",
  "subscription",
  "mapping",
  "upstream",
  "registry-upstream",
  "policy",
  "library",
];

/** Answers the path of names of a uid. */
export type PathOf = (uid: string, kind?: Kind) => Promise<string>;

/**
 * Paths of names, such as `acme/team` of a group, `acme/team/app` of a repo, `acme/team/app:1.2` of a tag and `acme/ci`
 * of an identity. Without a kind a uid is that of a group or repo. What the caller may not see stands as its uid.
 * Questions that are asked in one step become one request for each kind.
 */
export function pathsOf(rest: Pick<RestClient, "call">): PathOf {
  const loaders = new Map<Kind, (uid: string) => Promise<string | undefined>>();
  const nameOf = (kind: Kind, uid: string): Promise<string | undefined> => {
    const known = loaders.get(kind) ?? loaderOf(rest, kind);
    loaders.set(kind, known);
    return known(uid);
  };
  const places = new Map<string, Promise<string | undefined>>();
  const placeOf = (uid: string): Promise<string | undefined> => {
    if (places.size > MAX_REMEMBERED) places.clear();
    const known = places.get(uid) ?? findPlace(uid);
    places.set(uid, known);
    return known;
  };
  async function findPlace(uid: string): Promise<string | undefined> {
    const parent = parentOf(uid);
    const [above, own] = await Promise.all([
      parent === "" ? "" : placeOf(parent),
      nameOf("group", uid).then((name) => name ?? (parent === "" ? undefined : nameOf("repo", uid))),
    ]);
    // Above the outermost group that the caller may see there are no names.
    return own === undefined ? undefined : above ? `${above}/${own}` : own;
  }
  const providerOf = async (uid: string): Promise<string | undefined> => {
    const [above, own] = await Promise.all([placeOf(parentOf(uid)), nameOf("provider", uid)]);
    return own === undefined || above === undefined ? own : `${above}/${own}`;
  };
  return async (uid, kind) => {
    if (!isUid(uid)) return uid;
    if (kind === undefined || kind === "group") return (await placeOf(uid)) ?? uid;
    const parent = parentOf(uid);
    const [above, own] = await Promise.all([
      parent === "" ? "" : kind === "mapping" ? providerOf(parent) : placeOf(parent),
      nameOf(kind, uid),
    ]);
    if (own === undefined) return uid;
    if (kind === "advisory" || kind === "invite" || above === undefined || above === "") return own;
    return `${above}${WITH_COLON.includes(kind) ? ":" : "/"}${own}`;
  };
}

/** Looks names up, those that are asked for in one step by one request. */
function loaderOf(rest: Pick<RestClient, "call">, kind: Kind): (uid: string) => Promise<string | undefined> {
  const { path, field, query } = KINDS[kind];
  const known = new Map<string, Promise<string | undefined>>();
  let waiting = new Map<string, (name: string | undefined | Promise<string | undefined>) => void>();
  let sending: Promise<void> = Promise.resolve();
  async function send(): Promise<void> {
    const asked = waiting;
    waiting = new Map();
    const uids = [...asked.keys()];
    const parts = Array.from({ length: Math.ceil(uids.length / MAX_IDS) }, (_, at) =>
      uids.slice(at * MAX_IDS, (at + 1) * MAX_IDS),
    );
    await Promise.all(
      parts.map(async (ids) => {
        const answer = await rest.call("GET", path, { query: { ...query, "uidp.ids": ids, page_size: ids.length } });
        for (const item of objectsIn(answer, field)) asked.get(String(item["uid"]))?.(ownName(kind, item));
        for (const uid of ids) asked.get(uid)?.(kind === "identity" ? atRoot(rest, uid) : undefined);
      }),
    );
  }
  return (uid) => {
    const found = known.get(uid);
    if (found) return found;
    if (known.size > MAX_REMEMBERED) known.clear();
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    if (waiting.size === 0) sending = Promise.resolve().then(send);
    waiting.set(uid, resolve);
    sending.catch(reject);
    known.set(uid, promise);
    return promise;
  };
}

/**
 * The name of an identity at the root: people and the owner of the installation, who are no part of lists by their
 * uids; undefined for all others, and for those that the caller may not see.
 */
async function atRoot(rest: Pick<RestClient, "call">, uid: string): Promise<string | undefined> {
  if (uid.includes("/")) return undefined;
  return rest.call("GET", `${KINDS.identity.path}/${uid}`).then(
    (item) => textOf(item["email"]) || textOf(item["name"]),
    () => undefined,
  );
}

function ownName(kind: Kind, item: JsonObject): string | undefined {
  if (kind === "binding") return bindingName(item);
  const name = textOf(item[KINDS[kind].nameField]);
  return kind === "upstream" || kind === "policy" ? name && ecosystemWord(name) : name;
}

/** The identity and the role, as the last parts of a binding's name. */
function bindingName({ identity, role }: JsonObject): string | undefined {
  const [who, what] = [identity, role].map((bound) =>
    typeof bound === "object" && bound !== null && "name" in bound ? textOf(bound["name"]) : undefined,
  );
  return who && what && `${who}:${what}`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
