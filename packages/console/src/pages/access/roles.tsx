import { Link } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { type Capability, createRole, deleteRole, type Role, updateRole } from "../../api/gen/iam.ts";
import { Badge } from "../../ui/badge.tsx";
import { Place } from "./parts/place.tsx";
import type { FieldSpec, ResourceSpec } from "./parts/resource.ts";
import { parentOf } from "./parts/tree.ts";

/** Roles, and how custom ones are made and changed. */
export const ROLES: ResourceSpec<Role> = {
  title: "Roles",
  noun: "role",
  intro: "A role is a set of permissions. Built-in roles never change; a role of your own belongs to a group.",
  columns: [
    {
      id: "name",
      header: "Name",
      orderBy: "name",
      cell: ({ uid, name }) => (
        <Link to="/access/role" search={{ uid }}>
          {name}
        </Link>
      ),
    },
    { id: "description", header: "What it is for", cell: ({ description }) => description, isMinor: true },
    {
      id: "place",
      header: "Belongs to",
      cell: ({ uid }) => (isBuiltIn(uid) ? <Badge>built in</Badge> : <Place uid={parentOf(uid)} />),
    },
    {
      id: "rights",
      header: "Permissions",
      cell: ({ capabilities }) => capabilities.length,
      align: "end",
      isMinor: true,
    },
  ],
  uidOf: ({ uid }) => uid,
  nameOf: ({ name }) => name,
  isFixed: ({ uid }) => (isBuiltIn(uid) ? "Built-in roles never change" : undefined),
  create: {
    capability: "CAP_IAM_ROLES_CREATE",
    form: (group) => ({
      title: "New role",
      action: "Create",
      description: "Made of permissions that you hold there yourself.",
      fields: fieldsOf(),
      send: (values) => call(createRole, { parent: group, role: inputOf(values) }),
    }),
  },
  edit: {
    capability: "CAP_IAM_ROLES_UPDATE",
    form: (role) => ({
      title: `Edit role ${role.name}`,
      action: "Save",
      description: "Everyone with this role gets the new permissions from their next request on.",
      fields: fieldsOf(role),
      send: (values) =>
        call(updateRole, {
          role: { uid: role.uid, ...inputOf(values) },
          updateMask: "name,description,capabilities",
        }),
    }),
  },
  remove: {
    capability: "CAP_IAM_ROLES_DELETE",
    send: (uid) => call(deleteRole, { uid }),
    effect: "A role that is still in use by a member, an invite, or a mapping cannot be deleted.",
  },
  empty: {
    title: "No custom roles here",
    text: "The built-in roles are enough for most teams: viewer, editor, owner, registry.pull, registry.push. Clear the group to see them.",
    command: 'curl "$URL/iam/v2/roles" -H "Authorization: Bearer $TOKEN"',
  },
};

/** Whether the role comes with the installation. */
export function isBuiltIn(uid: string): boolean {
  return !uid.includes("/");
}

function fieldsOf({ name, description, capabilities }: Partial<Role> = {}): FieldSpec[] {
  return [
    { name: "name", label: "Name", help: "a-z, 0-9, space, dot, dash, underscore", initial: name ?? "" },
    { name: "description", label: "Description", initial: description ?? "" },
    { name: "capabilities", label: "Permissions", kind: "capabilities", initial: capabilities?.join(",") ?? "" },
  ];
}

function inputOf({ name = "", description = "", capabilities = "" }: Readonly<Record<string, string>>) {
  return { name, description, capabilities: capabilities.split(",").filter((each) => each !== "") as Capability[] };
}
