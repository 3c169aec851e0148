// Bindings, invites and mappings of a plan.
import { textIn } from "../api/json-fields.ts";
import { type Applying, forItem } from "./apply-context.ts";
import type { MemberRole } from "./model.ts";
import type { PlanItem } from "./plan.ts";
import { openRights, type RightsHere } from "./rights-here.ts";
import type { SecretsFile } from "./secrets-file.ts";

// The longest that the server allows.
const INVITE_TTL_S = 30 * 86_400;
const KINDS: readonly string[] = ["binding", "invite", "mapping", "public"];

/**
 * Gives the members of a plan what it says. Without a file for their codes invites are left, and what is public there
 * unless that is wanted here.
 */
export async function applyMembers(
  applying: Applying,
  { secrets, makesPublic }: { secrets: SecretsFile | undefined; makesPublic: boolean },
): Promise<void> {
  const { plan, rest, here, results } = applying;
  const rights = openRights(rest);
  const made = new Set<string>();
  for (const item of plan.items) {
    if (!KINDS.includes(item.kind) || item.action === "cannot") continue;
    if (item.kind === "invite" && secrets === undefined) {
      results.add(item, "left", "comes with --secrets");
      continue;
    }
    if (item.kind === "public" && !makesPublic) {
      results.add(item, "left", "comes with --public");
      continue;
    }
    await forItem(results, item, async () => {
      const group = here.groups.get(item.target);
      if (group === undefined) return results.add(item, "failed", "its group is not there");
      const right = { group, role: await rights.roleUid(item.role as MemberRole) };
      const key = JSON.stringify([right, item.identity, item.email, item.provider, item.externalGroup]);
      if (made.has(key) || (await isHere(rights, item, right))) return results.add(item, "same");
      await make(applying, item, right, secrets);
      made.add(key);
      results.add(item, "done");
    });
  }
}

async function isHere(
  rights: RightsHere,
  { kind, identity = "", email = "", provider = "", externalGroup = "" }: PlanItem,
  right: { group: string; role: string },
): Promise<boolean> {
  if (kind === "binding" || kind === "public") return rights.isBound({ ...right, identity });
  if (kind === "mapping") return rights.isMapped({ ...right, provider, externalGroup });
  return (await rights.hasAddress({ ...right, email })) || (await rights.isInvited({ ...right, email }));
}

async function make(
  { rest }: Applying,
  { kind, source, target, role, identity = "", email = "", provider = "", externalGroup = "" }: PlanItem,
  right: { group: string; role: string },
  secrets: SecretsFile | undefined,
): Promise<void> {
  const { group, role: roleUid } = right;
  if (kind === "binding" || kind === "public") {
    await rest.call("POST", `/iam/v2/roleBindings/${group}`, { body: { identityUid: identity, roleUid } });
    return;
  }
  if (kind === "mapping") {
    const body = { externalGroupId: externalGroup, roleUid, scope: group };
    await rest.call("POST", `/iam/v2/externalGroupRoleMappings/${provider}`, { body });
    return;
  }
  const body = { roleUid, email, ttl: `${INVITE_TTL_S}s`, singleUse: true };
  const invite = await rest.call("POST", `/iam/v2/groupInvites/${group}`, { body });
  const [code, url, expirationTime] = ["code", "url", "expirationTime"].map((field) => textIn(invite, field));
  await secrets?.add({ member: source, group: target, role: role ?? "", email, code, url, expirationTime, made: true });
}
