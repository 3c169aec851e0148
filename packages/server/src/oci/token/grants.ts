import { Capability } from "@moorage/api";
import type { Call } from "../../core/call.ts";
import type { Action } from "../request.ts";
import { capabilityNames, lackingOf, lackingToPush, PULL } from "../names.ts";
import { type Resolved, resolveRepository } from "../../core/image-path.ts";
import type { PublicSettings } from "../anonymous.ts";
import type { RepositoryScope } from "./scopes.ts";

/** What was left out of a token, and the capabilities (CAP_…) that were missing for it. */
export interface LeftOut {
  repository: string;
  action: Action;
  lacking: string[];
}

/**
 * What of the wanted scopes the caller may have now; the rest is left out, not an error. The rights are asked again at
 * every use of the token: it only narrows. Anybody may have `pull` in the public organization, where tag and digest
 * decide later. Source: contract §8.
 */
export async function grantedScopes(
  call: Call,
  settings: PublicSettings,
  wanted: readonly RepositoryScope[],
): Promise<{ granted: RepositoryScope[]; leftOut: LeftOut[] }> {
  const granted: RepositoryScope[] = [];
  const leftOut: LeftOut[] = [];
  for (const { name, actions } of wanted) {
    const place = await resolveRepository(call, name);
    const allowed: Action[] = [];
    for (const action of actions) {
      const open = action === "pull" && name.startsWith(`${settings.publicOrganization}/`);
      const lacking = open ? [] : await lackingFor(call, place, action);
      if (lacking.length === 0) allowed.push(action);
      else leftOut.push({ repository: name, action, lacking: capabilityNames(lacking) });
    }
    if (allowed.length > 0) granted.push({ name, actions: allowed });
  }
  return { granted, leftOut };
}

/**
 * On a repo that does not exist, the rights at the innermost group that does count; to push, those to make what is
 * missing as well.
 */
async function lackingFor(call: Call, resolved: Resolved, action: Action): Promise<Capability[]> {
  const place = resolved.repo ?? resolved.group;
  if (action === "pull") return lackingOf(call, place, PULL);
  if (action === "push") return lackingToPush(call, resolved);
  const lacking = await lackingOf(call, place, DELETE);
  // One of them is enough.
  return lacking.length < DELETE.length ? [] : lacking;
}

const DELETE: readonly Capability[] = [Capability.CAP_MANIFEST_DELETE, Capability.CAP_TAG_DELETE];
