import { Capability, IdentitiesService, IdentityProvidersService, ResourceDeletedSchema } from "@moorage/api/messages";
import { audit } from "@moorage/kernel/audit";
import { countBelow } from "@moorage/kernel/aip/resource";
import type { Call } from "@moorage/kernel/core/call";
import type { ServiceContext } from "@moorage/kernel/core/service";
import { requireAdminFor } from "./identities.ts";
import { removeIdentityProvider } from "./identity-providers.ts";
import { areLastOwners, keepingOwners, organizationsOwnedBy, organizationsOwnedThrough } from "./owners.ts";
import { removeIdentity } from "./people.ts";

/**
 * Removes what the only owners of an organization sign in by, where nothing else is left directly below it: one
 * identity, or one identity provider without mappings. By itself it cannot be removed, since the organization would be
 * without an owner; it goes with the organization. False, with nothing removed, when something else is left, or the
 * caller may not remove it.
 */
export async function removeLastWayIn(call: Call, context: ServiceContext, organization: string): Promise<boolean> {
  return (
    (await removeLastIdentity(call, context, organization)) || (await removeLastProvider(call, context, organization))
  );
}

async function removeLastIdentity(call: Call, context: ServiceContext, organization: string): Promise<boolean> {
  const [last, more] = await call.tx
    .selectFrom("identities")
    .selectAll()
    .where("parent", "=", organization)
    .limit(2)
    .execute();
  if (last === undefined || more !== undefined) return false;
  const { uid, name } = last;
  if (!(await call.may(Capability.CAP_IAM_IDENTITY_DELETE, uid))) return false;
  if (!(await areLastOwners(call, context, organization, (owner) => owner.uid === uid))) return false;
  requireAdminFor(call, context.admins ?? [], uid);
  const others = (await organizationsOwnedBy(call.tx, [uid])).filter((one) => one !== organization);
  await keepingOwners(call, context, others, () => removeIdentity(call, last));
  await note(call, "api.iam.identity.deleted.v1", IdentitiesService.method.deleteIdentity, { uid, name, organization });
  return true;
}

async function removeLastProvider(call: Call, context: ServiceContext, organization: string): Promise<boolean> {
  const [last, more] = await call.tx
    .selectFrom("identity_providers")
    .selectAll()
    .where("parent", "=", organization)
    .limit(2)
    .execute();
  if (last === undefined || more !== undefined) return false;
  const { uid, name } = last;
  if (!(await call.may(Capability.CAP_IAM_IDENTITY_PROVIDERS_DELETE, uid))) return false;
  if ((await countBelow(call.tx, "external_group_role_mappings", uid)) > 0) return false;
  if (!(await areLastOwners(call, context, organization, (owner) => owner.provider === uid))) return false;
  const others = (await organizationsOwnedThrough(call.tx, uid)).filter((one) => one !== organization);
  await keepingOwners(call, context, others, () => removeIdentityProvider(call, context, last));
  const { deleteIdentityProvider: method } = IdentityProvidersService.method;
  await note(call, "api.iam.identity_providers.deleted.v1", method, { uid, name, organization });
  return true;
}

/** The event and the audit entry of the method that removes it otherwise. */
async function note(
  call: Call,
  type: string,
  method: { name: string; parent: { typeName: string } },
  { uid, name, organization: group }: { uid: string; name: string; organization: string },
): Promise<void> {
  call.emit(ResourceDeletedSchema, { type, subject: uid, group, body: { uid } });
  await audit(call, { method: `${method.parent.typeName}.${method.name}`, resource: uid, details: { name } });
}
