import { Capability } from "@moorage/api";
import type { Call } from "../call.ts";
import type { Action } from "./context.ts";
import { mayAll, mayPush, PULL, resolveRepository } from "./names.ts";
import type { Resolved } from "./names.ts";
import type { PublicSettings } from "./public.ts";
import type { RepositoryScope } from "./token-scopes.ts";

/**
 * What of the wanted scopes the caller may have now; the rest is left out, not an error. The rights are asked again at every use of the
 * token: it only narrows. Anybody may have `pull` in the public organization, where tag and digest decide later. Source: contract §8.
 */
export async function grantedScopes(call: Call, settings: PublicSettings, wanted: readonly RepositoryScope[]): Promise<RepositoryScope[]> {
  const granted: RepositoryScope[] = [];
  for (const { name, actions } of wanted) {
    const place = await resolveRepository(call, name);
    const allowed: Action[] = [];
    for (const action of actions) {
      const open = action === "pull" && name.startsWith(`${settings.publicOrganization}/`);
      if (open || (await mayAct(call, place, action))) allowed.push(action);
    }
    if (allowed.length > 0) granted.push({ name, actions: allowed });
  }
  return granted;
}

/** On a repo that does not exist, the rights at the innermost group that does count; to push, those to make what is missing as well. */
async function mayAct(call: Call, resolved: Resolved, action: Action): Promise<boolean> {
  const place = resolved.repo ?? resolved.group;
  if (place === undefined) return false;
  if (action === "pull") return mayAll(call, place, PULL);
  if (action === "delete") return (await call.may(Capability.CAP_MANIFEST_DELETE, place)) || call.may(Capability.CAP_TAG_DELETE, place);
  return mayPush(call, resolved);
}
