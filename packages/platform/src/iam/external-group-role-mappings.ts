import { create } from "@bufbuild/protobuf";
import {
  BatchDeleteExternalGroupRoleMappingsRequestSchema,
  type ExternalGroupRoleMapping,
  ExternalGroupRoleMappingSchema,
  ExternalGroupRoleMappingsService,
} from "@moorage/api/messages";
import { columnIsIfSet, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { resource } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import { validate, violationsOf } from "@moorage/kernel/aip/validate";
import { isWithin, organizationOf, parentOf } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import { alreadyExists, invalidArgument } from "@moorage/kernel/errors";
import { requireHolds, type Service, type ServiceContext } from "@moorage/kernel/core/service";
import type { Row } from "@moorage/kernel/store";
import { noSuchRole, roleFor } from "./give-role.ts";
import { groups } from "./groups.ts";
import { identityProviders } from "./identity-providers.ts";
import { keepingOwners } from "./owners.ts";
import { capabilitiesOf, capabilityName } from "./roles.ts";

const LAYOUT = layoutOf(ExternalGroupRoleMappingSchema, { without: ["identity_provider_uid"] });
const toRow = columnsOf(LAYOUT, "external_group_role_mappings", ["external_group_id", "role_uid", "scope"]);

const mappings = resource({
  message: ExternalGroupRoleMappingSchema,
  table: "external_group_role_mappings",
  toMessage: (row) => ({ ...LAYOUT.fieldsOf(row), identityProviderUid: row.parent }),
  // The external group cannot be changed.
  toRow: columnsOf(LAYOUT, "external_group_role_mappings", ["role_uid", "scope"]),
});

const LIST = listOf({
  method: ExternalGroupRoleMappingsService.method.listExternalGroupRoleMappings,
  table: "external_group_role_mappings",
  defaultOrder: "createTime",
  orderBy: sortable("create_time", "external_group_id", "uid"),
});

export function externalGroupRoleMappingsService(
  context: ServiceContext,
): Service<typeof ExternalGroupRoleMappingsService> {
  const { pageTokenKey } = context;
  return {
    getExternalGroupRoleMapping: async (call, { uid }) => mappings.toMessage(await mappings.get(call.tx, uid)),
    async listExternalGroupRoleMappings(call, request) {
      const page = await listPage(call, pageTokenKey, LIST, request, {
        filters: ({ identityProviderUid: provider }) => columnIsIfSet("parent", provider),
      });
      return { ...page, externalGroupRoleMappings: page.rows.map(mappings.toMessage) };
    },
    async createExternalGroupRoleMapping(
      call,
      { parent, externalGroupRoleMapping: mapping = create(ExternalGroupRoleMappingSchema) },
    ) {
      const provider = await identityProviders.get(call.tx, parent);
      await check(call, provider.parent, mapping);
      await requireNew(call, { ...toRow(mapping), uid: "", parent });
      return mappings.toMessage(
        await mappings.insert(call, parent, {
          ...toRow(mapping),
          create_time: call.nowMs,
        }),
      );
    },
    updateExternalGroupRoleMapping: (
      call,
      { externalGroupRoleMapping: mapping = create(ExternalGroupRoleMappingSchema), updateMask },
    ) =>
      keepingOwners(call, context, [organizationOf(mapping.uid)], () =>
        // The group is the parent of the mapping's provider.
        mappings.patch(call, mapping.uid, mapping, updateMask, async (before, after) => {
          await check(call, parentOf(before.parent), after);
          await requireNew(call, { ...toRow(after), uid: before.uid, parent: before.parent });
        }),
      ),
    async deleteExternalGroupRoleMapping(call, { uid }) {
      const row = await mappings.get(call.tx, uid);
      await keepingOwners(call, context, [organizationOf(uid)], () => mappings.remove(call, row));
      return {};
    },
    async batchDeleteExternalGroupRoleMappings(call, request) {
      validate(BatchDeleteExternalGroupRoleMappingsRequestSchema, request);
      const { parent, names } = request;
      await identityProviders.get(call.tx, parent);
      if (new Set(names).size !== names.length)
        throw invalidArgument({ field: "names", description: "must name each mapping once" });
      const strange = names.findIndex((uid) => parentOf(uid) !== parent);
      if (strange >= 0)
        throw invalidArgument({
          field: `names[${strange}]`,
          description: "must be a mapping of the identity provider",
        });
      const deleted: ExternalGroupRoleMapping[] = [];
      await keepingOwners(call, context, [organizationOf(parent)], async () => {
        for (const uid of names) {
          const row = await mappings.find(call.tx, uid);
          if (row === undefined) continue;
          await mappings.remove(call, row);
          deleted.push(mappings.toMessage(row));
        }
      });
      return { parent, externalGroupRoleMappings: deleted };
    },
  };
}

/**
 * Throws INVALID_ARGUMENT with all violations, or PERMISSION_DENIED if the caller does not hold every capability of the
 * role. `group`: the provider's.
 */
async function check(call: Call, group: string, mapping: ExternalGroupRoleMapping): Promise<void> {
  const violations = violationsOf(ExternalGroupRoleMappingSchema, mapping);
  const { scope, roleUid } = mapping;
  const scopeIsThere = isWithin(scope, group) && (await groups.find(call.tx, scope)) !== undefined;
  if (scope !== "" && !scopeIsThere)
    violations.push({ field: "scope", description: "must be the provider's group or a group below it" });
  const role = await roleFor(call, scopeIsThere ? scope : group, roleUid);
  if (roleUid !== "" && role === undefined) violations.push(noSuchRole("roleUid"));
  if (violations.length > 0 || role === undefined) throw invalidArgument(...violations);
  await requireHolds(call, capabilitiesOf(role), scope, capabilityName);
}

/** Throws ALREADY_EXISTS if the provider has another mapping of the same group to the same role and scope. */
async function requireNew(
  { tx }: Call,
  mapping: Pick<Row<"external_group_role_mappings">, "uid" | "parent" | "external_group_id" | "role_uid" | "scope">,
): Promise<void> {
  const same = await tx
    .selectFrom("external_group_role_mappings")
    .select("uid")
    .where("parent", "=", mapping.parent)
    .where("external_group_id", "=", mapping.external_group_id)
    .where("role_uid", "=", mapping.role_uid)
    .where("scope", "=", mapping.scope)
    .where("uid", "!=", mapping.uid)
    .executeTakeFirst();
  if (same !== undefined) throw alreadyExists(ExternalGroupRoleMappingSchema.typeName, mapping.external_group_id);
}
