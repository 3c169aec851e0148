import { ResourceDeletedSchema } from "@moorage/api/messages";
import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Below, Call } from "@moorage/kernel/core/call";
import { parentOf } from "@moorage/kernel/lib/uid";
import { emitLostBindings } from "./binding-answers.ts";

/** What iam itself keeps below groups, but groups. */
export const belowGroup: NonNullable<Below["group"]> = {
  hindrances: countedBelow({
    identities: "identities",
    roles: "custom roles",
    identity_providers: "identity providers",
    group_invites: "invites",
  }),
  async end(call, group) {
    const bindings = await call.tx.deleteFrom("role_bindings").where("parent", "=", group).returning("uid").execute();
    emitLostBindings(call, bindings.map(({ uid }) => uid).toSorted());
    await call.tx.deleteFrom("terms_acceptances").where("parent", "=", group).execute();
    const associations = await call.tx
      .deleteFrom("account_associations")
      .where("uid", "=", group)
      .returning("uid")
      .execute();
    for (const { uid } of associations) emitLostAssociation(call, uid);
    // Mappings of a provider further up that give a role on this group are deleted like its bindings.
    const mappings = await call.tx
      .deleteFrom("external_group_role_mappings")
      .where("scope", "=", group)
      .returning("uid")
      .execute();
    for (const mapping of mappings) emitLostMapping(call, mapping.uid);
  },
};

function emitLostAssociation(call: Call, uid: string): void {
  // An association has the uid of its group.
  const type = "api.iam.account_associations.deleted.v1";
  call.emit(ResourceDeletedSchema, { type, subject: uid, group: uid, body: { uid } });
}

function emitLostMapping(call: Call, uid: string): void {
  call.emit(ResourceDeletedSchema, {
    type: "api.iam.external_group_role_mappings.deleted.v1",
    subject: uid,
    group: parentOf(parentOf(uid)),
    body: { uid },
  });
}
