import { Link } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { createRoleBinding, deleteRoleBinding, type RoleBinding } from "../../api/gen/iam.ts";
import { Time } from "../../ui/time.tsx";
import { Place } from "./parts/place.tsx";
import type { FormSpec, ResourceSpec } from "./parts/resource.ts";
import { parentOf } from "./parts/tree.ts";

/** Who may do what where, and how it is given and taken. */
export const BINDINGS: ResourceSpec<RoleBinding> = {
  title: "Role bindings",
  noun: "binding",
  intro: "Who may do what, and where. A role that is bound on a group counts there and in everything below it.",
  columns: [
    {
      id: "identity",
      header: "Who",
      cell: ({ identity }) => (
        <Link to="/access/identity" search={{ uid: identity?.uid ?? "" }}>
          {identity?.email || identity?.name || identity?.uid}
        </Link>
      ),
    },
    {
      id: "role",
      header: "Role",
      cell: ({ role }) => (
        <Link to="/access/role" search={{ uid: role?.uid ?? "" }}>
          {role?.name}
        </Link>
      ),
    },
    { id: "group", header: "Where", cell: ({ uid, group }) => <Place uid={parentOf(uid)} name={group?.name} /> },
    {
      id: "made",
      header: "Since",
      orderBy: "createTime",
      cell: ({ createTime }) => <Time value={createTime} />,
      isMinor: true,
    },
  ],
  uidOf: ({ uid }) => uid,
  nameOf: ({ role, identity, group }) => `${role?.name} for ${identity?.name} on ${group?.name}`,
  create: { capability: "CAP_IAM_ROLE_BINDINGS_CREATE", form: (group) => newBindingForm({ group }) },
  remove: {
    capability: "CAP_IAM_ROLE_BINDINGS_DELETE",
    send: (uid) => call(deleteRoleBinding, { uid }),
    effect: "The next request of the identity has less, unless another binding gives the same.",
  },
  empty: {
    title: "No role is bound here",
    text: "Bind a role to an identity: choose a group, then “New binding”. A new owner of the organization is invited.",
    command: "moorage pull-token create --group acme --name cluster-1",
  },
};

/** Binds a role, with what is known already filled in. */
export function newBindingForm({
  identity = "",
  role = "",
  group = "",
}: {
  identity?: string;
  role?: string;
  group?: string;
}): FormSpec<RoleBinding> {
  return {
    title: "Bind a role",
    action: "Bind",
    description: "You can give what you hold there yourself.",
    fields: [
      { name: "identityUid", label: "Identity", kind: "identity", initial: identity },
      { name: "roleUid", label: "Role", kind: "role", initial: role },
      { name: "parent", label: "On group", kind: "group", initial: group, help: "And everything below it" },
    ],
    send: ({ identityUid = "", roleUid = "", parent = "" }) => {
      if (parent === "") throw new Error("Choose the group that the role is bound on.");
      return call(createRoleBinding, { parent, roleBinding: { identityUid, roleUid } });
    },
  };
}
