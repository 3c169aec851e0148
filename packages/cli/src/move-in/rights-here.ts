// Who may do what here: bindings, invites and mappings, each list read once.
import { objectIn, textIn } from "../api/json-fields.ts";
import { ApiFailure } from "../api/failure.ts";
import { parentOf } from "../api/name-kinds.ts";
import type { JsonObject, RestClient } from "../api/rest.ts";
import { ItemFailure } from "./item-failure.ts";
import type { MemberRole } from "./model.ts";

/** A role for somebody on a group; the uids of both. */
interface Right {
  group: string;
  role: string;
}

/** The rights that are here already. */
export interface RightsHere {
  /** The uid of a built-in role. */
  roleUid(name: MemberRole): Promise<string>;
  /** The uid of who has this subject of an issuer here; undefined for nobody whom `group` can give a role. */
  identityOf(subject: { issuer: string; subject: string }, group: string): Promise<string | undefined>;
  /** The identity provider whose groups count at a group: its uid, or why there is none. */
  providerOf(group: string, issuer: string | undefined): Promise<{ uid: string } | { fault: string }>;
  isBound(right: Right & { identity: string }): Promise<boolean>;
  /** Whether somebody with this verified address has the role. */
  hasAddress(right: Right & { email: string }): Promise<boolean>;
  /** Whether an invite for the address is open. */
  isInvited(right: Right & { email: string }): Promise<boolean>;
  isMapped(right: Right & { provider: string; externalGroup: string }): Promise<boolean>;
}

const PAGE_SIZE = 200;

/** Reads with the caller's rights. */
export function openRights(rest: RestClient): RightsHere {
  const list = async (path: string, field: string, query: Record<string, string>): Promise<JsonObject[]> => {
    const items: JsonObject[] = [];
    for await (const item of rest.list(path, field, { query, pageSize: PAGE_SIZE })) items.push(item);
    return items;
  };
  const once = <T>(read: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
    const known = new Map<string, Promise<T>>();
    return (key) => {
      const found = known.get(key) ?? read(key);
      known.set(key, found);
      return found;
    };
  };
  const roles = once(async (name) => {
    const [found] = await list("/iam/v2/roles", "roles", { name, "uidp.in_root": "true" });
    if (found === undefined) throw new ItemFailure(`there is no built-in role ${name}`);
    return textIn(found, "uid");
  });
  const bindings = once((group) => list("/iam/v2/roleBindings", "roleBindings", { group }));
  const invites = once((group) => list("/iam/v2/groupInvites", "groupInvites", { "uidp.children_of": group }));
  const mappings = once((provider) =>
    list("/iam/v2/externalGroupRoleMappings", "externalGroupRoleMappings", { identity_provider_uid: provider }),
  );
  const providers = once((root) =>
    list("/iam/v2/identityProviders", "identityProviders", { "uidp.descendants_of": root }),
  );
  return {
    roleUid: roles,
    async identityOf(subject, group) {
      const query = { ...subject };
      const found = await rest
        .call("GET", "/iam/v2/identities:lookupIdentity", { query })
        .catch((error: unknown): JsonObject | undefined => {
          if (error instanceof ApiFailure && error.httpStatus === 404) return undefined;
          throw error;
        });
      const uid = textIn(found, "uid");
      // Rights of an identity of a group reach no further than that.
      return uid !== "" && isWithin(group, parentOf(uid)) ? uid : undefined;
    },
    async providerOf(group, issuer) {
      const [root = ""] = group.split("/");
      const fit = (await providers(root)).filter((each) => {
        const oidc = objectIn(each, "oidc");
        const isAsked = issuer === undefined || textIn(oidc, "issuer") === issuer;
        return isAsked && textIn(oidc, "groupsClaim") !== "" && isWithin(group, parentOf(textIn(each, "uid")));
      });
      const of = issuer === undefined ? "" : ` of ${issuer}`;
      const [only, second] = fit;
      if (only === undefined)
        return { fault: `needs an identity provider${of} with a groups claim, here or above: you see none` };
      if (second !== undefined)
        return { fault: `${fit.length} identity providers${of} here have groups: map it by hand` };
      return { uid: textIn(only, "uid") };
    },
    isBound: async ({ group, role, identity }) =>
      (await bindings(group)).some((each) => roleOf(each) === role && boundOf(each, "uid") === identity),
    hasAddress: async ({ group, role, email }) =>
      (await bindings(group)).some((each) => roleOf(each) === role && sameAddress(boundOf(each, "email"), email)),
    isInvited: async ({ group, role, email }) =>
      (await invites(group)).some(
        (each) =>
          roleOf(each) === role &&
          sameAddress(textIn(each, "email"), email) &&
          Date.parse(textIn(each, "expirationTime")) > Date.now(),
      ),
    isMapped: async ({ group, role, provider, externalGroup }) =>
      (await mappings(provider)).some(
        (each) =>
          textIn(each, "roleUid") === role &&
          textIn(each, "scope") === group &&
          textIn(each, "externalGroupId") === externalGroup,
      ),
  };
}

function roleOf(item: JsonObject): string {
  return textIn(objectIn(item, "role"), "uid");
}

function boundOf(binding: JsonObject, field: string): string {
  return textIn(objectIn(binding, "identity"), field);
}

/** Whether a group is the other or below it; everything is below the root, whose uid is empty. */
function isWithin(group: string, above: string): boolean {
  return above === "" || group === above || group.startsWith(`${above}/`);
}

/** Of an address only what is before the @ is case-sensitive. */
function sameAddress(one: string, other: string): boolean {
  const [name, domain] = [one.lastIndexOf("@"), other.lastIndexOf("@")];
  return (
    one.slice(0, name) === other.slice(0, domain) && one.slice(name).toLowerCase() === other.slice(domain).toLowerCase()
  );
}
