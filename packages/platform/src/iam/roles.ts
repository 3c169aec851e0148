import { create } from "@bufbuild/protobuf";
import { Capability, CapabilitySchema, type Role, RoleSchema, RolesService } from "@moorage/api/messages";
import { columnIsIfSet, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { resource } from "@moorage/kernel/aip/resource";
import { type Scope, within } from "@moorage/kernel/aip/scope";
import { violationsOf } from "@moorage/kernel/aip/validate";
import { requireHolds, type Service, type ServiceContext } from "@moorage/kernel/core/service";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import { failedPrecondition, invalidArgument, type PreconditionViolation } from "@moorage/kernel/errors";
import { organizationOf, parentOf } from "@moorage/kernel/lib/uid";
import { sql } from "kysely";
import { groups } from "./groups.ts";
import { keepingOwners } from "./owners.ts";

const LAYOUT = layoutOf(RoleSchema, { without: ["capabilities"] });
const namesOf = columnsOf(LAYOUT, "roles", ["name", "description"]);
const toRow = (role: Role) => ({ ...namesOf(role), capabilities: toColumn(role.capabilities) });

export const roles = resource({
  message: RoleSchema,
  table: "roles",
  toMessage: (row) => ({ ...LAYOUT.fieldsOf(row), capabilities: capabilitiesOf(row) }),
  toRow,
});

const LIST = listOf({
  method: RolesService.method.listRoles,
  table: "roles",
  defaultOrder: "name",
  orderBy: sortable("name", "description", "create_time", "update_time", "uid"),
});

export function rolesService(context: ServiceContext): Service<typeof RolesService> {
  const { pageTokenKey } = context;
  return {
    getRole: async (call, { uid }) => roles.toMessage(await roles.get(call.tx, uid)),
    async listRoles(call, request) {
      const page = await listPage(call, pageTokenKey, LIST, request, {
        filters: ({ name }) => columnIsIfSet("name", name),
        scope: withBuiltIn,
      });
      return { ...page, roles: page.rows.map(roles.toMessage) };
    },
    async createRole(call, { parent, role = create(RoleSchema) }) {
      check(role);
      await groups.get(call.tx, parent);
      await requireHolds(call, role.capabilities, parent, capabilityName);
      return roles.toMessage(
        await roles.insert(call, parent, {
          ...toRow(role),
          create_time: call.nowMs,
          update_time: call.nowMs,
        }),
      );
    },
    updateRole: (call, { role = create(RoleSchema), updateMask }) =>
      keepingOwners(call, context, [organizationOf(role.uid)], () =>
        roles.patch(call, role.uid, role, updateMask, async (before, after) => {
          requireCustom(before.uid);
          check(after);
          if (before.name !== after.name) await roles.requireFree(call.tx, before.parent, after.name);
          if (before.capabilities !== toColumn(after.capabilities))
            await requireHolds(call, after.capabilities, before.parent, capabilityName);
        }),
      ),
    async deleteRole(call, { uid }) {
      const row = await roles.get(call.tx, uid);
      requireCustom(uid);
      const violations: PreconditionViolation[] = [];
      for (const { table, column, words } of USES) {
        const {
          rows: [found],
        } = await sql<{
          n: number;
        }>`select count(*) as n from ${sql.table(table)} where ${sql.ref(column)} = ${uid}`.execute(call.tx);
        const n = Number(found?.n ?? 0);
        if (n > 0) violations.push({ type: "RESOURCE_IN_USE", subject: uid, description: `${words}: ${n}` });
      }
      if (violations.length > 0) throw failedPrecondition(...violations);
      await roles.remove(call, row);
      return {};
    },
  };
}

const USES = [
  { table: "role_bindings", column: "role_uid", words: "the role is still bound" },
  { table: "group_invites", column: "role_uid", words: "invites still give the role" },
  { table: "external_group_role_mappings", column: "role_uid", words: "mappings still give the role" },
  {
    table: "identity_providers",
    column: "default_role",
    words: "identity providers still have the role as their default",
  },
] as const;

/** The capabilities of a roles row. */
export function capabilitiesOf({ capabilities }: { capabilities: string }): Capability[] {
  return JSON.parse(capabilities) as Capability[];
}

/** The name of a capability in the API, e.g. `CAP_REPO_LIST`. */
export function capabilityName(capability: Capability): string {
  return CapabilitySchema.value[capability]?.name ?? String(capability);
}

/** The value of the capabilities column: without duplicates, sorted. */
export function toColumn(capabilities: Capability[]): string {
  return JSON.stringify([...new Set(capabilities)].sort((left, right) => left - right));
}

// Every caller sees the built-in roles, in lists without a filter or with in_root.
function withBuiltIn(
  scope: Scope,
  { uidp }: { uidp?: { ancestorsOf: string; descendantsOf: string; childrenOf: string } },
): Scope {
  if (uidp !== undefined && [uidp.ancestorsOf, uidp.descendantsOf, uidp.childrenOf].some((uid) => uid !== ""))
    return scope;
  return {
    roots: [],
    everywhere: true,
    conditions: [...scope.conditions, sql`(t.parent = '' or ${within(scope.roots)})`],
  };
}

function check(role: Role): void {
  const violations = violationsOf(RoleSchema, role);
  const unknown = role.capabilities.find(
    (capability) =>
      capability === Capability.CAPABILITY_UNSPECIFIED || CapabilitySchema.value[capability] === undefined,
  );
  if (unknown !== undefined)
    violations.push({ field: "capabilities", description: `there is no capability ${unknown}` });
  if (violations.length > 0) throw invalidArgument(...violations);
}

function requireCustom(uid: string): void {
  if (parentOf(uid) === "")
    throw failedPrecondition({
      type: "BUILT_IN_RESOURCE",
      subject: uid,
      description: "a built-in role cannot be changed or deleted",
    });
}
