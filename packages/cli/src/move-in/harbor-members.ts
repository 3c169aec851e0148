// Members of Harbor's projects: people, and groups of them. Source: Harbor's api/v2.0/swagger.yaml, and the numbers of
// roles and kinds of groups in src/common/const.go.
import { isObject } from "@moorage/kernel/lib/json";
import type { SourceClient } from "./client.ts";
import { addressIn, type MemberRole, type SourceMember } from "./model.ts";
import { isOfOne } from "./source-error.ts";

type Fields = Record<string, unknown>;

/** What is known of members beside that they are. */
export interface MemberReader {
  /** What a member of a project may be here. */
  memberOf(project: string, member: Fields): Promise<SourceMember>;
}

// Harbor's numbers: administrator, developer, guest, maintainer and limited guest of a project.
const ROLES: Readonly<Record<number, { name: string; roles: readonly MemberRole[] }>> = {
  1: { name: "administrator", roles: ["owner"] },
  2: { name: "developer", roles: ["viewer", "registry.push"] },
  3: { name: "guest", roles: ["viewer"] },
  4: { name: "maintainer", roles: ["editor"] },
  5: { name: "limited guest", roles: ["registry.pull"] },
};
const OIDC_GROUP = 3;
const API = "/api/v2.0";
const MAX_NAME = 255;

/** `issuer`: that of the people there, at the end of what Harbor knows them by. Without it nobody is known by that. */
export function openMemberReader(client: SourceClient, issuer: string | undefined): MemberReader {
  const asked = new Map<string, Promise<unknown>>();
  // A person is in many projects.
  const answerOf = (path: string): Promise<unknown> => {
    const found = asked.get(path) ?? client.json(path);
    asked.set(path, found);
    return found;
  };
  return {
    async memberOf(project, member) {
      const { entity_type: type, entity_name: name, entity_id: id, role_id: role } = member;
      const isGroup = type === "g";
      const known = typeof role === "number" ? ROLES[role] : undefined;
      const label = typeof name === "string" ? name.slice(0, MAX_NAME).toWellFormed() : "";
      const base = {
        kind: isGroup ? ("group" as const) : ("person" as const),
        source: `${project}: ${isGroup ? "group " : ""}${label === "" ? String(id) : label}, ${known?.name ?? "?"}`,
        below: project,
        roles: known?.roles ?? [],
      };
      if (type !== "u" && type !== "g") return { ...base, fault: "is neither a person nor a group" };
      if (known === undefined) return { ...base, fault: "has a role that is not one of Harbor's built-in roles" };
      if (label === "" || /\p{C}/u.test(label)) return { ...base, fault: "its name cannot be shown" };
      if (typeof id !== "number" || !Number.isSafeInteger(id)) return { ...base, fault: "has no number there" };
      try {
        const answer = await answerOf(`${API}/${isGroup ? "usergroups" : "users"}/${id}`);
        if (!isObject(answer)) return { ...base, fault: "is a member, and otherwise not known there" };
        return { ...base, ...(isGroup ? groupOf(answer, label) : personOf(answer, issuer)) };
      } catch (error) {
        if (!isOfOne(error)) throw error;
        return { ...base, fault: error.message };
      }
    },
  };
}

/** The answer has a secret of the person, too, which is not looked at. */
function personOf(person: Fields, issuer: string | undefined): Partial<SourceMember> {
  const { oidc_user_meta: meta } = person;
  const email = addressIn(person["email"]);
  const joined = isObject(meta) && typeof meta["subiss"] === "string" ? meta["subiss"] : "";
  const subject = issuer !== undefined && joined.endsWith(issuer) ? joined.slice(0, -issuer.length) : "";
  return {
    ...(issuer !== undefined && subject !== "" && { subject: { issuer, subject } }),
    ...(email !== undefined && { email }),
  };
}

function groupOf({ group_type: type, group_name: name }: Fields, label: string): Partial<SourceMember> {
  if (name !== label) return { fault: "has another name in the list of groups" };
  if (type !== OIDC_GROUP)
    return { fault: "is not an OpenID Connect group: map it by what the provider here calls it" };
  return { externalGroup: label };
}
