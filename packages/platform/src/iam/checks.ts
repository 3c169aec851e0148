import { removeFaulty, repairBy, type RowCheck, withoutParent } from "@moorage/kernel/core/row-check";
import { EVERYBODY, SIGNED_IN } from "./built-in-identities.ts";

/** The checks of identities, roles and what gives roles. */
export const IAM_CHECKS: readonly RowCheck[] = [
  {
    kind: "role-binding-dangling",
    meaning: "a role binding names an identity, a role or a group that is gone",
    find: `select b.uid, b.identity_uid, b.role_uid from role_bindings as b where (b.identity_uid not in ('${EVERYBODY}', '${SIGNED_IN}') and not exists (select 1 from identities as i where i.uid = b.identity_uid))
      or not exists (select 1 from roles as r where r.uid = b.role_uid) or not exists (select 1 from groups as g where g.uid = b.parent)`,
    show: ["uid", "identity_uid", "role_uid"],
    repair: removeFaulty("role_bindings", ["uid"]),
  },
  {
    kind: "invite-dangling",
    meaning: "an invite gives a role or is for a group that is gone",
    find: `select i.uid, i.role_uid from group_invites as i where not exists (select 1 from roles as r where r.uid = i.role_uid)
      or not exists (select 1 from groups as g where g.uid = i.parent)`,
    show: ["uid", "role_uid"],
    repair: removeFaulty("group_invites", ["uid"]),
  },
  {
    kind: "external-group-role-mapping-dangling",
    meaning: "a mapping belongs to a provider, gives a role or is for a group that is gone",
    find: `select m.uid, m.role_uid, m.scope from external_group_role_mappings as m where not exists (select 1 from identity_providers as p where p.uid = m.parent)
      or not exists (select 1 from roles as r where r.uid = m.role_uid) or not exists (select 1 from groups as g where g.uid = m.scope)`,
    show: ["uid", "role_uid", "scope"],
    repair: removeFaulty("external_group_role_mappings", ["uid"]),
  },
  {
    kind: "default-role-dangling",
    meaning: "a provider's default role is gone",
    find: "select p.uid, p.default_role from identity_providers as p where p.default_role <> '' and not exists (select 1 from roles as r where r.uid = p.default_role)",
    show: ["uid", "default_role"],
    repair: repairBy("update identity_providers set default_role = '' where uid = ?", ["uid"]),
  },
  {
    kind: "invite-acceptance-without-invite",
    meaning: "somebody accepted an invite that is gone",
    find: "select a.invite, a.identity from invite_acceptances as a where not exists (select 1 from group_invites as i where i.uid = a.invite)",
    show: ["invite", "identity"],
    repair: removeFaulty("invite_acceptances", ["invite", "identity"]),
  },
  {
    kind: "terms-acceptance-without-group",
    meaning: "a document is accepted for a group that is gone",
    find: "select t.uid, t.doc_id from terms_acceptances as t where not exists (select 1 from groups as g where g.uid = t.parent)",
    show: ["uid", "doc_id"],
    repair: removeFaulty("terms_acceptances", ["uid"]),
  },
  {
    kind: "account-association-without-group",
    meaning: "accounts belong to a group that is gone",
    find: "select a.uid from account_associations as a where not exists (select 1 from groups as g where g.uid = a.uid)",
    show: ["uid"],
    repair: removeFaulty("account_associations", ["uid"]),
  },
  withoutParent("groups", "identities", "roles", "identity_providers"),
];
