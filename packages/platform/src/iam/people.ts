import { type ListIdentitiesRequest, RelationshipType, ResourceDeletedSchema } from "@moorage/api/messages";
import { sql } from "kysely";
import { type Condition, type Scope, within } from "@moorage/kernel/aip/scope";
import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { parentOf } from "@moorage/kernel/lib/uid";
import { type Database, removeFromAncestors, type Row } from "@moorage/kernel/store";
import { emitLostBindings } from "./binding-answers.ts";
import { PASSWORD_ISSUERS } from "./registry-passwords.ts";

// People are identities at the root, in no group. They belong to the group of the identity provider through which they
// signed in: who may list or delete identities there may list or delete them. See also auth/permissions/authorize.ts.

const DELETED = "api.iam.identity.deleted.v1";
const DELETE_METHOD = "moorage.iam.v2.IdentitiesService.DeleteIdentity";

/** Matches identities in one of the groups or below, and the people of their identity providers. */
export function withinOrPeople(groups: string[]): Condition {
  return sql`(${within(groups)} or (t.provider <> '' and ${within(groups, sql`t.provider`)}))`;
}

/** Whether anybody signed in through an identity provider of the groups. Lists without people are faster. */
export async function seesPeople({ tx }: { tx: Database }, groups: string[]): Promise<boolean> {
  if (groups.length === 0) return false;
  const { rows } = await sql`select 1 from identities as t
    where t.provider <> '' and ${within(groups, sql`t.provider`)} limit 1`.execute(tx);
  return rows.length > 0;
}

/** Adds the people to a list of identities, but not to a list of the children of one group. */
export function withPeople(scope: Scope, { uidp }: ListIdentitiesRequest): Scope {
  if (scope.roots.length === 0 || (uidp?.childrenOf ?? "") !== "") return scope;
  return { roots: [], everywhere: true, conditions: [...scope.conditions, withinOrPeople(scope.roots)] };
}

/**
 * Removes an identity with its role bindings, sessions and refresh tokens: nothing that it holds is accepted from the
 * commit on. With a person go the pull and push tokens that the person made, which are identities of their own.
 */
export async function removeIdentity(call: Call, row: Row<"identities">): Promise<void> {
  await removeOne(call, row);
  if (parentOf(row.uid) !== "") return;
  // The method's event would be for the group that the identity is in, and a person is in none.
  const group = parentOf(row.provider);
  call.emit(ResourceDeletedSchema, { type: DELETED, subject: row.uid, group, body: { uid: row.uid } });
  if (row.provider === "") return;
  await audit(call, { method: DELETE_METHOD, resource: row.provider, details: { identity: row.uid, name: row.name } });
  for (const password of await passwordsOf(call, row)) {
    const { uid, name } = password;
    await removeOne(call, password);
    call.emit(ResourceDeletedSchema, { type: DELETED, subject: uid, group: parentOf(uid), body: { uid } });
    await audit(call, { method: DELETE_METHOD, resource: uid, details: { name, creator: row.uid } });
  }
}

/** The pull and push tokens that a person made: none for other identities. */
export async function passwordsOf(
  { tx }: Pick<Call, "tx">,
  { uid, provider }: Row<"identities">,
): Promise<Row<"identities">[]> {
  if (provider === "") return [];
  return tx
    .selectFrom("identities")
    .selectAll()
    .where("creator", "=", uid)
    .where("relationship_type", "=", RelationshipType.STATIC)
    .where("issuer", "in", PASSWORD_ISSUERS)
    .execute();
}

/** Ends what signs people of an identity provider in again without it. */
export async function signPeopleOut(call: Call, provider: string): Promise<void> {
  for (const { signOut } of call.below.identityProvider) await signOut(call, provider);
}

async function removeOne(call: Call, { uid, name }: Row<"identities">): Promise<void> {
  // Each binding belongs to a group of its own, which gets the event.
  const bindings = await call.tx.deleteFrom("role_bindings").where("identity_uid", "=", uid).returning("uid").execute();
  emitLostBindings(
    call,
    bindings.map((binding) => binding.uid),
  );
  for (const { end } of call.below.identity) await end(call, uid);
  await call.tx.deleteFrom("sign_in_groups").where("identity", "=", uid).execute();
  await call.tx.deleteFrom("identities").where("uid", "=", uid).execute();
  await removeFromAncestors(call.tx, "identities", uid, name);
}
