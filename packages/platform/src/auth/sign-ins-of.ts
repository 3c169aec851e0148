import type { Capability } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { isUid, isWithin, parentOf } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";

/**
 * Whether the caller holds the capability on what the identity is signed in by: its sessions and personal tokens. Each
 * identity holds them on its own, with a token that is not narrowed to less. On those of a person, who is in no group,
 * whoever holds it in the group of the person's identity provider does.
 */
export async function mayOnSignInsOf(call: Call, capability: Capability, identity: string): Promise<boolean> {
  if (holdsOnOwn(call, capability) && identity === call.caller.identity) return true;
  if (!isUid(identity)) return false;
  if (parentOf(identity) !== "") return call.may(capability, identity);
  const provider = await providerOfIdentity(call.tx, identity);
  return provider !== "" && call.may(capability, provider);
}

/** Whether the caller's token is not narrowed to less than the capability on its own sign-ins. */
export function holdsOnOwn({ caller }: Pick<Call, "caller">, capability: Capability): boolean {
  const { identity, capabilities, scopes } = caller;
  return (
    (capabilities === undefined || capabilities.includes(capability)) &&
    (scopes === undefined || scopes.some((scope) => isWithin(identity, scope)))
  );
}

/** The uid of the identity provider of a person; empty for other identities, and where there is no such identity. */
export async function providerOfIdentity(db: Database, uid: string): Promise<string> {
  const row = await db.selectFrom("identities").select("provider").where("uid", "=", uid).executeTakeFirst();
  return row?.provider ?? "";
}
