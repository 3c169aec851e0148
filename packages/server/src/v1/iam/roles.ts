import { CapabilitySchema, other_name, RoleSchema as V2Role, RolesService, v1_name } from "@moorage/api/messages";
import { RoleListSchema, Roles, RoleSchema } from "@moorage/api/v1/iam";
import { optionOf } from "@moorage/kernel/lib/options";
import { capabilityOf } from "@moorage/platform/auth";
import type { Method } from "../../runtime/methods.ts";
import { type Converted, mapping } from "../mapping.ts";
import { translated } from "../service.ts";
import { itemsOf, listed, withId, withParent } from "../v2.ts";

const NAMES: ReadonlyMap<number, string> = new Map(
  CapabilitySchema.values.map((value) => [
    value.number,
    optionOf(value, v1_name) || optionOf(value, other_name) || value.name,
  ]),
);

/** Capabilities by their names with dots, as `repo.list`. */
export const capabilities: Converted<"capabilities"> = {
  field: "capabilities",
  toV1: (value) => NAMES.get(value as number) ?? String(value),
  toV2: (value) => capabilityOf(value as string),
  describe: "must be a capability, as repo.list",
};

export const role = mapping(RoleSchema, V2Role, {
  id: "uid",
  name: "name",
  description: "description",
  capabilities,
});

const { createRole, deleteRole, listRoles, updateRole } = RolesService.method;

/** moorage.iam.Roles. Source: the v1 contract. */
export const roles: [string, Method][] = translated(Roles, [role], {
  create: async (v2, { parentId: parent, role: given }) =>
    role.toV1(await v2.answer(createRole, { parent, ...(given && { role: role.toV2(given) }) })),
  update: async (v2, given) =>
    role.toV1(await v2.answer(updateRole, { role: role.toV2(given), updateMask: role.mask })),
  list: (v2, { id, name, parent, uidp }) =>
    listed(
      RoleListSchema,
      v2.pages(listRoles, { uidp: withParent(withId(uidp, id), parent), name }),
      itemsOf(role, "roles"),
    ),
  delete: (v2, { id: uid }) => v2.answer(deleteRole, { uid }),
});
