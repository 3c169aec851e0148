import { Link } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { createRoleBinding, deleteRoleBinding, type RoleBinding, updateRoleBinding } from "../../api/gen/iam.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Time } from "../../ui/time.tsx";
import { MemberChoice, OpenWarning } from "./parts/member-choice.tsx";
import { openTo } from "./parts/open-identities.ts";
import { Place } from "./parts/place.tsx";
import type { FormSpec, ResourceSpec } from "./parts/resource.ts";
import styles from "./parts/parts.module.css";
import { parentOf } from "./parts/tree.ts";

/** Who may do what where, and how it is given and taken. */
export const BINDINGS: ResourceSpec<RoleBinding> = {
  title: "Members",
  noun: "member",
  intro: "Who can do what, and where. A role on a group applies to the group and everything below it.",
  isTall: true,
  columns: [
    {
      id: "identity",
      header: "Person or machine",
      cell: ({ identity, inactiveReason }) => {
        const name = identity?.name || identity?.email || identity?.uid || "";
        const open = openTo(identity?.uid ?? "");
        if (open !== undefined)
          return (
            <span className={styles.member}>
              <Badge look={inactiveReason === undefined ? "danger" : "plain"}>{open}</Badge>
              <span>
                {name}
                <small>{inactiveReason === undefined ? identity?.description : `No effect: ${inactiveReason}`}</small>
              </span>
            </span>
          );
        return (
          <span className={styles.member}>
            <Avatar
              name={name}
              isMachine={identity !== undefined && identity.email === "" && identity.subject !== ""}
            />
            <span>
              <Link to="/access/identity" search={{ uid: identity?.uid ?? "" }}>
                {identity?.email || name}
              </Link>
              {identity?.email !== "" && identity?.email !== name && <small>{name}</small>}
            </span>
          </span>
        );
      },
    },
    {
      id: "role",
      header: "Role",
      cell: ({ role }) => (
        <Link to="/access/role" search={{ uid: role?.uid ?? "" }}>
          {role?.name}
        </Link>
      ),
      below: ({ uid, role, group }) => (
        <>
          {role?.name} on <Place uid={parentOf(uid)} name={group?.name} />
        </>
      ),
    },
    {
      id: "group",
      header: "On group",
      cell: ({ uid, group }) => <Place uid={parentOf(uid)} name={group?.name} />,
      isMinor: true,
    },
    {
      id: "seen",
      header: "Last seen",
      cell: ({ identity }) => <Time value={identity?.lastSeenTime} none="not recorded" />,
      isMinor: true,
    },
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
  edit: { capability: "CAP_IAM_ROLE_BINDINGS_UPDATE", form: changeRoleForm },
  remove: {
    verb: "Remove",
    capability: "CAP_IAM_ROLE_BINDINGS_DELETE",
    send: (uid) => call(deleteRoleBinding, { uid }),
    effect: "From its next request on it loses these permissions, unless another role grants them.",
  },
  empty: {
    title: "No members here",
    text: "People become members through an invite link, or when their group at the identity provider has a role. Add anyone who already has an account with “New member”.",
    command: "moorage pull-token create --group acme --name cluster-1",
  },
};

/** Gives a role on a group, with what is known already filled in. */
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
    title: "Add a member",
    action: "Add",
    description: "You can grant only what you hold there yourself.",
    fields: [
      {
        name: "identityUid",
        label: "Person or machine",
        initial: identity,
        render: (field) => <MemberChoice group={group} {...field} />,
      },
      { name: "roleUid", label: "Role", kind: "role", initial: role },
      { name: "parent", label: "On group", kind: "group", initial: group, help: "And everything below it" },
    ],
    preview: (values) => <OpenWarning values={values} />,
    send: ({ identityUid = "", roleUid = "", parent = "" }) => {
      if (parent === "") throw new Error("Choose the group that the role applies to.");
      return call(createRoleBinding, { parent, roleBinding: { identityUid, roleUid } });
    },
  };
}

/** Gives a member another role on the same group. */
function changeRoleForm({ uid, role, identity, group }: RoleBinding): FormSpec<RoleBinding> {
  return {
    title: "Change role",
    action: "Save",
    description: `What ${identity?.email || identity?.name || "it"} may do in ${group?.name ?? "the group"} and everything below.`,
    fields: [{ name: "roleUid", label: "Role", kind: "role", initial: role?.uid ?? "" }],
    send: ({ roleUid = "" }) =>
      call(updateRoleBinding, {
        roleBinding: { uid, identityUid: identity?.uid ?? "", roleUid },
        updateMask: "roleUid",
      }),
  };
}
