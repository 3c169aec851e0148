// The names by which names.ts finds items again.
import type { JsonObject } from "../api/rest.ts";
import { ecosystemWord } from "../api/name-kinds.ts";
import type { PathOf } from "../api/uid-paths.ts";
import { enumWord, nameBelow, textAt, valueAt } from "./column-kinds.ts";

/** Answers the name of an item. */
export type NameOf = (item: JsonObject, pathOf: PathOf) => string | Promise<string>;

/** Names of items whose kind has a form of its own, by the same keys as their columns. */
export const NAMES: Readonly<Record<string, NameOf>> = {
  artifacts: (item, pathOf) => nameBelow(item, pathOf, textAt(item, "name"), ":"),
  artifactVersions: async (item, pathOf) =>
    `${await pathOf(textAt(item, "uid").replace(/\/[^/]*$/, ""), "library")}@${textAt(item, "version")}`,
  attention: async (item) => enumWord(valueAt(item, "kind"), "ATTENTION_KIND_"),
  tags: (item, pathOf) => nameBelow(item, pathOf, textAt(item, "name"), ":"),
  eolTags: (item, pathOf) => nameBelow(item, pathOf, textAt(item, "name"), ":"),
  subscriptions: (item, pathOf) => nameBelow(item, pathOf, textAt(item, "sink"), ":"),
  roleBindings: async (item, pathOf) => {
    const group = await pathOf(textAt(item, "group.uid"), "group");
    const identity = textAt(item, "identity.name") || textAt(item, "identity.email");
    const role = textAt(item, "role.name");
    return group === "" || identity === "" || role === "" ? textAt(item, "uid") : `${group}:${identity}:${role}`;
  },
  externalGroupRoleMappings: async (item, pathOf) => {
    const [provider, role] = await Promise.all([
      pathOf(textAt(item, "identityProviderUid"), "provider"),
      pathOf(textAt(item, "roleUid"), "role"),
    ]);
    return `${provider}:${textAt(item, "externalGroupId")}:${role}`;
  },
  groupInvites: (item) => textAt(item, "keyId") || textAt(item, "uid"),
  accountAssociations: (item, pathOf) => pathOf(textAt(item, "uid"), "group"),
  advisories: (item) => textAt(item, "advisoryId") || textAt(item, "uid"),
  upstreams: byEcosystem,
  registryUpstreams: (item, pathOf) => nameBelow(item, pathOf, textAt(item, "registry"), ":"),
  artifactPolicies: byEcosystem,
  blocks: (item) => `${textAt(item, "name")}@${textAt(item, "version")}`,
  events: (item) => textAt(item, "id"),
  jobs: (item) => textAt(item, "name"),
  feeds: (item) => textAt(item, "name"),
  quotas: (item, pathOf) => pathOf(textAt(item, "uid"), "group"),
  storage: (item, pathOf) => pathOf(textAt(item, "groupUid"), "group"),
  termsAcceptances: (item) => textAt(item, "docId"),
  days: (item) => textAt(item, "day"),
  signatures: (item) => textAt(item, "manifest") || textAt(item, "source"),
  "replications items": (item) => `${textAt(item, "repository")}:${textAt(item, "tag")}`,
  "signature-policies tags": (item) => `${textAt(item, "repository")}:${textAt(item, "tag")}`,
  resolvedVulnsReports: (item) => textAt(item, "date"),
  problems: (item) => textAt(item, "record") || textAt(item, "feed"),
  findings: (item) => textAt(item, "vulnerability"),
  vulnerabilities: (item) => textAt(item, "id"),
  results(item) {
    const [name, tag, digest] = [textAt(item, "name"), textAt(item, "tag"), textAt(item, "digest")];
    return tag !== "" ? `${name}:${tag}` : digest !== "" ? `${name}@${digest}` : name;
  },
};

function byEcosystem(item: JsonObject, pathOf: PathOf): Promise<string> {
  return nameBelow(item, pathOf, ecosystemWord(textAt(item, "ecosystem")), ":");
}

/** The name of an item of no kind in particular: below its parent's, or what there is. */
export const nameOfAny: NameOf = (item, pathOf) => {
  const [uid, name] = [textAt(item, "uid"), textAt(item, "name")];
  return uid === "" ? name || textAt(item, "id") || textAt(item, "digest") : nameBelow(item, pathOf, name);
};
