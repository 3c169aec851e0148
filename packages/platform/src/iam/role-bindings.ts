import { create } from "@bufbuild/protobuf";
import {
  Capability,
  type CreateRoleBindingRequest,
  GroupSchema,
  type RoleBinding,
  RoleBindingSchema,
  RoleBindingsService,
} from "@moorage/api/messages";
import { columnIsIfSet, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { resource } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import { violationsOf } from "@moorage/kernel/aip/validate";
import { isWithin, organizationOf, parentOf } from "@moorage/kernel/lib/uid";
import type { Actor, Call } from "@moorage/kernel/core/call";
import { type FieldViolation, invalidArgument, notFound, permissionDenied } from "@moorage/kernel/errors";
import { requireHolds, type Service, type ServiceContext } from "@moorage/kernel/core/service";
import type { Row } from "@moorage/kernel/store";
import { hydratedBinding, hydratedBindings, emitBinding } from "./binding-answers.ts";
import { isBuiltInIdentity, openRoleViolations, requireOpenBinding } from "./built-in-identities.ts";
import { groups } from "./groups.ts";
import { identities } from "./identities.ts";
import { keepingOwners } from "./owners.ts";
import { capabilitiesOf, capabilityName, roles } from "./roles.ts";

const LAYOUT = layoutOf(RoleBindingSchema, { without: ["identity", "group", "role"] });
const toRow = columnsOf(LAYOUT, "role_bindings", ["identity_uid", "role_uid"]);

export const bindings = resource({
  message: RoleBindingSchema,
  table: "role_bindings",
  toMessage: LAYOUT.ofRow,
  toRow,
});

const LIST = listOf({
  method: RoleBindingsService.method.listRoleBindings,
  table: "role_bindings",
  defaultOrder: "createTime",
  orderBy: sortable("create_time", "uid"),
});

export function roleBindingsService(context: ServiceContext): Service<typeof RoleBindingsService> {
  const { pageTokenKey } = context;
  return {
    async getRoleBinding(call, { uid }) {
      return await hydratedBinding(call, await bindings.get(call.tx, uid));
    },
    async listRoleBindings(call, request) {
      const page = await listPage(call, pageTokenKey, LIST, request, {
        filters: ({ identity, group, role }) => [
          ...columnIsIfSet("identity_uid", identity),
          ...columnIsIfSet("parent", group),
          ...columnIsIfSet("role_uid", role),
        ],
      });
      return { ...page, roleBindings: await hydratedBindings(call, page.rows) };
    },
    async createRoleBinding(call, { parent, roleBinding = create(RoleBindingSchema) }) {
      return await hydratedBinding(call, await bind(call, parent, roleBinding, ""));
    },
    async batchCreateRoleBindings(call, { parent, requests, roleUid }) {
      const filled = requests.map(({ parent: own, roleBinding }) => ({
        parent: own || parent,
        binding: create(RoleBindingSchema, {
          identityUid: roleBinding?.identityUid ?? "",
          roleUid: roleBinding?.roleUid || roleUid,
        }),
      }));
      const violations = batchViolations(parent, roleUid, requests);
      if (violations.length > 0) throw invalidArgument(...violations);
      for (const { parent: group } of filled) await requireCreate(call, group);
      const rows: Row<"role_bindings">[] = [];
      for (const [at, { parent: group, binding }] of filled.entries())
        rows.push(await bind(call, group, binding, `requests[${at}].`));
      return { roleBindings: await hydratedBindings(call, rows) };
    },
    async updateRoleBinding(call, { roleBinding = create(RoleBindingSchema), updateMask }) {
      const { uid } = roleBinding;
      await keepingOwners(call, context, [organizationOf(uid)], () =>
        bindings.patch(call, uid, roleBinding, updateMask, (before, after) =>
          checkBinding(call, before.parent, after, ""),
        ),
      );
      return await hydratedBinding(call, await bindings.get(call.tx, roleBinding.uid));
    },
    async deleteRoleBinding(call, { uid }) {
      const row = await bindings.get(call.tx, uid);
      await keepingOwners(call, context, [organizationOf(uid)], () => bindings.remove(call, row));
      return {};
    },
  };
}

const MAX_BATCH = 25;

/** What one request names must be what the batch names, where both name it. Source: AIP-233. */
function batchViolations(
  parent: string,
  roleUid: string,
  requests: readonly CreateRoleBindingRequest[],
): FieldViolation[] {
  if (requests.length === 0) return [{ field: "requests", description: "is required" }];
  if (requests.length > MAX_BATCH)
    return [{ field: "requests", description: `must have at most ${MAX_BATCH} entries` }];
  const differs = (own: string, common: string): boolean => own !== "" && common !== "" && own !== common;
  return requests.flatMap((request, at) => {
    const violations: FieldViolation[] = [];
    const field = `requests[${at}].parent`;
    if (request.parent === "" && parent === "") violations.push({ field, description: "is required" });
    if (differs(request.parent, parent))
      violations.push({ field, description: "must be empty or the batch's own parent" });
    if (differs(request.roleBinding?.roleUid ?? "", roleUid))
      violations.push({
        field: `requests[${at}].roleBinding.roleUid`,
        description: "must be empty or the batch's own role",
      });
    return violations;
  });
}

// The rule of the batch method lets in any authenticated caller, because each request names its own group: the rule of
// createRoleBinding is checked here. A caller that may not see the group gets NOT_FOUND.
async function requireCreate(call: Call, group: string): Promise<void> {
  if (await call.may(Capability.CAP_IAM_ROLE_BINDINGS_CREATE, group)) return;
  const seen =
    (await call.may(Capability.CAP_IAM_GROUPS_LIST, group)) && (await groups.find(call.tx, group)) !== undefined;
  throw seen
    ? permissionDenied("the caller may not create role bindings here", { missing: "CAP_IAM_ROLE_BINDINGS_CREATE" })
    : notFound(GroupSchema.typeName, group);
}

async function bind(call: Call, group: string, binding: RoleBinding, path: string): Promise<Row<"role_bindings">> {
  const violations = violationsOf(RoleBindingSchema, binding, path === "" ? "" : `${path}roleBinding.`);
  if (violations.length > 0) throw invalidArgument(...violations);
  await groups.get(call.tx, group);
  await checkBinding(call, group, binding, path === "" ? "" : `${path}roleBinding.`);
  return await bindings.insert(call, group, {
    ...toRow(binding),
    create_time: call.nowMs,
  });
}

// An identity's rights never reach above its parent group, and a custom role exists only at and below its parent. What
// is out of reach is reported as not existing.
async function checkBinding(
  call: Call,
  group: string,
  { identityUid, roleUid }: RoleBinding,
  path: string,
): Promise<void> {
  const violations: FieldViolation[] = [];
  const isOpen = isBuiltInIdentity(identityUid);
  if (!isOpen && !(await mayReach(call, identityUid, group)))
    violations.push({
      field: `${path}identityUid`,
      description: "there is no such identity whose rights reach this group",
    });
  if (isOpen) await requireOpenBinding(call.tx, identityUid);
  const role = await roles.find(call.tx, roleUid);
  const home = parentOf(roleUid);
  if (role === undefined || (home !== "" && !isWithin(group, home)))
    violations.push({ field: `${path}roleUid`, description: "there is no such role for this group" });
  else if (isOpen) violations.push(...openRoleViolations(`${path}roleUid`, identityUid, capabilitiesOf(role)));
  if (violations.length > 0 || role === undefined) throw invalidArgument(...violations);
  await requireHolds(call, capabilitiesOf(role), group, capabilityName);
}

async function mayReach(call: Call, identityUid: string, group: string): Promise<boolean> {
  const identity = await identities.find(call.tx, identityUid);
  return identity !== undefined && (identity.parent === "" || isWithin(group, identity.parent));
}

/**
 * The binding of the identity to the role on the group; if there is none, it is created and its event emitted. The
 * caller has checked the right to give the role.
 */
export async function ensureBinding(
  call: Call,
  group: string,
  identityUid: string,
  roleUid: string,
  by?: Actor | "system",
): Promise<Row<"role_bindings">> {
  const known = await call.tx
    .selectFrom("role_bindings")
    .selectAll()
    .where("identity_uid", "=", identityUid)
    .where("parent", "=", group)
    .where("role_uid", "=", roleUid)
    .orderBy("create_time")
    .limit(1)
    .executeTakeFirst();
  if (known !== undefined) return known;
  const made = await bindings.insert(call, group, {
    identity_uid: identityUid,
    role_uid: roleUid,
    create_time: call.nowMs,
  });
  await emitBinding(call, made, by);
  return made;
}
