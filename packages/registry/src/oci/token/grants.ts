import { Capability } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { type Resolved, resolveRepository } from "@moorage/kernel/core/image-path";
import type { Action } from "../request.ts";
import { capabilityNames, lackingOf, lackingToPush, PULL } from "../names.ts";
import type { PublicSettings } from "../anonymous.ts";
import type { RepositoryScope } from "./scopes.ts";

/** An action left out of a token, and the capabilities (CAP_…) that the caller lacks for it. */
export interface LeftOut {
  repository: string;
  action: Action;
  lacking: string[];
}

/**
 * The requested scopes that the caller has rights for; the others are left out without an error. The rights are checked
 * again at every use of the token, which only narrows them. Every caller, also an anonymous one, gets `pull` in the
 * public organization; tag and digest decide when it pulls. Source: docs/contract.md, "Registry tokens".
 */
export async function grantedScopes(
  call: Call,
  settings: PublicSettings,
  wanted: readonly RepositoryScope[],
): Promise<{ granted: RepositoryScope[]; leftOut: LeftOut[] }> {
  const granted: RepositoryScope[] = [];
  const leftOut: LeftOut[] = [];
  for (const { name, actions } of wanted) {
    const resolved = await resolveRepository(call, name);
    const allowed: Action[] = [];
    for (const action of actions) {
      const isPublic = action === "pull" && name.startsWith(`${settings.publicOrganization}/`);
      const lacking = isPublic ? [] : await lackingFor(call, resolved, action);
      if (lacking.length === 0) allowed.push(action);
      else leftOut.push({ repository: name, action, lacking: capabilityNames(lacking) });
    }
    if (allowed.length > 0) granted.push({ name, actions: allowed });
  }
  return { granted, leftOut };
}

/**
 * The capabilities that the caller lacks for the action. For a repo that does not exist, the rights at the innermost
 * existing group count; a push needs those to create what is missing as well.
 */
async function lackingFor(call: Call, resolved: Resolved, action: Action): Promise<Capability[]> {
  const scope = resolved.repo ?? resolved.group;
  if (action === "pull") return lackingOf(call, scope, PULL);
  if (action === "push") return lackingToPush(call, resolved);
  const lacking = await lackingOf(call, scope, DELETE);
  // Either capability is enough.
  return lacking.length < DELETE.length ? [] : lacking;
}

const DELETE: readonly Capability[] = [Capability.CAP_MANIFEST_DELETE, Capability.CAP_TAG_DELETE];
