// Names of what has no name of its own: tags, role bindings, subscriptions, mappings, invites, advisories, upstreams,
// policies, libraries and their versions; and people by their addresses.
import { UsageFailure } from "../command/failure.ts";
import { below } from "./group-path.ts";
import { parseImage } from "./image-reference.ts";
import { findLibrary, findVersion } from "./library-names.ts";
import { ecosystemWord, isBuiltIn, type Kind, KINDS } from "./name-kinds.ts";
import { type Lookup, onlyOne, throwMissing } from "./name-results.ts";
import type { Json, JsonObject, Query } from "./rest.ts";
import { objectsIn } from "./json-fields.ts";

const LOOKED_AT = 5000;

/** Finds a resource whose kind has names of a form of its own; undefined for other kinds. Throws as `uidOf`. */
export function findSpecial(lookup: Lookup, kind: Kind, text: string): Promise<string> | undefined {
  switch (kind) {
    case "tag":
      return findTag(lookup, text);
    case "binding":
      return findBinding(lookup, text);
    case "subscription":
      return findSubscription(lookup, text);
    case "mapping":
      return findMapping(lookup, text);
    case "invite":
      return findInvite(lookup, text);
    case "association":
    case "quota":
      // They have the uid of their group.
      return lookup.uidOf("group", text);
    case "upstream":
    case "policy":
      return findByEcosystem(lookup, kind, text);
    case "registry-upstream":
      return findRegistryUpstream(lookup, text);
    case "advisory":
      return findFiltered(lookup, kind, text, { advisory_ids: [text] }, () => true);
    case "library":
      return findLibrary(lookup, text);
    case "version":
      return findVersion(lookup, text);
    case "identity":
      if (isBuiltIn(text)) return Promise.resolve(text);
      return text.includes("@") ? findPerson(lookup, text) : undefined;
    default:
      return undefined;
  }
}

async function findTag(lookup: Lookup, text: string): Promise<string> {
  const { host, path, tag, digest, timeMs } = parseImage(text);
  if (tag === undefined || digest !== undefined || timeMs !== undefined || host !== undefined)
    throw new UsageFailure(`${text}: must be a tag, as ${KINDS.tag.form}`);
  const repo = await lookup.uidOf("repo", path);
  const answer = await lookup.rest.call("GET", KINDS.tag.path, { query: { name: tag, ...below(repo), page_size: 1 } });
  const [found] = objectsIn(answer, KINDS.tag.field);
  return found ? String(found["uid"]) : throwMissing(lookup, "tag", `${path}:${tag}`, { parent: repo, name: tag });
}

/** `group:identity:role`; the identity and the role by their names or paths. */
async function findBinding(lookup: Lookup, text: string): Promise<string> {
  const [, group, identity, role] = /^([^:]+):(.+):([^:]+)$/s.exec(text) ?? [];
  if (group === undefined || identity === undefined || role === undefined) throw formOf("binding", text);
  const uid = await lookup.uidOf("group", group);
  const isNamed = (bound: Json | undefined, name: string): boolean => {
    const { uid: own, name: called, email } = recordOf(bound);
    return [own, called, email].includes(name) || called === name.slice(name.lastIndexOf("/") + 1);
  };
  return findFiltered(
    lookup,
    "binding",
    text,
    { group: uid },
    (item) => isNamed(item["identity"], identity) && isNamed(item["role"], role),
  );
}

/** `group:sink`, or the sink alone. */
async function findSubscription(lookup: Lookup, text: string): Promise<string> {
  const [, group, sink] = /^([^:]+):(https?:\/\/.+)$/s.exec(text) ?? [];
  const query = group === undefined ? {} : below(await lookup.uidOf("group", group));
  if (group === undefined && !/^https?:\/\//.test(text)) throw formOf("subscription", text);
  return findFiltered(lookup, "subscription", text, query, (item) => item["sink"] === (sink ?? text));
}

/** `provider:external group`, with `:role` where the group has several. */
async function findMapping(lookup: Lookup, text: string): Promise<string> {
  const [, provider, rest] = /^([^:]+):(.+)$/s.exec(text) ?? [];
  if (provider === undefined || rest === undefined) throw formOf("mapping", text);
  const query = { identity_provider_uid: await lookup.uidOf("provider", provider) };
  const cut = rest.lastIndexOf(":");
  const role = cut < 0 ? undefined : await lookup.uidOf("role", rest.slice(cut + 1)).catch(() => undefined);
  return findFiltered(
    lookup,
    "mapping",
    text,
    query,
    ({ externalGroupId, roleUid }) =>
      externalGroupId === rest || (role !== undefined && roleUid === role && externalGroupId === rest.slice(0, cut)),
  );
}

/** `group:ecosystem`, of which a group has at most one. */
async function findByEcosystem(lookup: Lookup, kind: "upstream" | "policy", text: string): Promise<string> {
  const [, group, ecosystem] = /^([^:]+):(\w+)$/.exec(text) ?? [];
  if (group === undefined || ecosystem === undefined) throw formOf(kind, text);
  const uid = await lookup.uidOf("group", group);
  return findFiltered(
    lookup,
    kind,
    text,
    { "uidp.children_of": uid },
    (item) => ecosystemWord(String(item["ecosystem"])) === ecosystem.toLowerCase(),
  );
}

/** `group:registry`, or the group alone, which has at most one. */
async function findRegistryUpstream(lookup: Lookup, text: string): Promise<string> {
  const [, group = "", registry] = /^([^:]+)(?::(.+))?$/s.exec(text) ?? [];
  if (group === "") throw formOf("registry-upstream", text);
  const query = { "uidp.children_of": await lookup.uidOf("group", group) };
  return findFiltered(
    lookup,
    "registry-upstream",
    text,
    query,
    (item) => registry === undefined || item["registry"] === registry,
  );
}

/** The id of the key, or `group:address`. */
async function findInvite(lookup: Lookup, text: string): Promise<string> {
  if (/^[0-9a-f]{8}$/.test(text)) return findFiltered(lookup, "invite", text, { key_id: text }, () => true);
  const [, group, email] = /^([^:]+):(.+@.+)$/s.exec(text) ?? [];
  if (group === undefined) throw formOf("invite", text);
  const query = below(await lookup.uidOf("group", group));
  return findFiltered(lookup, "invite", text, query, (item) => item["email"] === email);
}

/** A person by the address; people have no parent. */
function findPerson(lookup: Lookup, text: string): Promise<string> {
  const isPerson = ({ email, emailUnverified, name }: JsonObject): boolean =>
    [email, emailUnverified, name].includes(text);
  return findFiltered(lookup, "identity", text, below(""), isPerson);
}

async function findFiltered(
  lookup: Lookup,
  kind: Kind,
  text: string,
  query: Query,
  accept: (item: JsonObject) => boolean,
): Promise<string> {
  const { path, field } = KINDS[kind];
  const found: JsonObject[] = [];
  for await (const item of lookup.rest.list(path, field, { query, pageSize: 200, limit: LOOKED_AT }))
    if (accept(item)) found.push(item);
  return onlyOne(lookup, kind, text, found, () => throwMissing(lookup, kind, text, { parent: undefined, name: text }));
}

function formOf(kind: Kind, text: string): UsageFailure {
  return new UsageFailure(`${text}: must be a uid or the name of a ${KINDS[kind].word}, as ${KINDS[kind].form}`);
}

function recordOf(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
