import {
  ExternalGroupRoleMappingSchema as V2ExternalGroupRoleMapping,
  ExternalGroupRoleMappingsService,
} from "@moorage/api/messages";
import {
  ExternalGroupRoleMappingListSchema,
  ExternalGroupRoleMappings,
  ExternalGroupRoleMappingSchema,
} from "@moorage/api/v1/iam";
import type { Method } from "../../runtime/methods.ts";
import { mapping } from "../mapping.ts";
import { translated } from "../service.ts";
import { itemsOf, listed } from "../v2.ts";

const ofGroup = mapping(ExternalGroupRoleMappingSchema, V2ExternalGroupRoleMapping, {
  id: "uid",
  identityProviderUidp: "identityProviderUid",
  externalGroupId: "externalGroupId",
  roleUidp: "roleUid",
  scope: "scope",
  createdAt: "createTime",
});

const {
  batchDeleteExternalGroupRoleMappings,
  createExternalGroupRoleMapping,
  deleteExternalGroupRoleMapping,
  getExternalGroupRoleMapping,
  listExternalGroupRoleMappings,
} = ExternalGroupRoleMappingsService.method;

/** Batches of v2 have the ids in `names`. */
const batch = { pathOf: (path: string) => path.replace(/^names(?=$|\[)/, "ids") };

/** moorage.iam.ExternalGroupRoleMappings: the only one of v1's with a Get. */
export const externalGroupRoleMappings: [string, Method][] = translated(ExternalGroupRoleMappings, [ofGroup, batch], {
  create: async (v2, { parentId: parent, mapping: given }) =>
    ofGroup.toV1(
      await v2.answer(createExternalGroupRoleMapping, {
        parent,
        ...(given && { externalGroupRoleMapping: ofGroup.toV2(given) }),
      }),
    ),
  get: async (v2, { uid }) => ofGroup.toV1(await v2.answer(getExternalGroupRoleMapping, { uid })),
  list: (v2, { uidp, identityProviderUidp: identityProviderUid }) =>
    listed(
      ExternalGroupRoleMappingListSchema,
      v2.pages(listExternalGroupRoleMappings, { ...(uidp && { uidp }), identityProviderUid }),
      itemsOf(ofGroup, "externalGroupRoleMappings"),
    ),
  delete: (v2, { id: uid }) => v2.answer(deleteExternalGroupRoleMapping, { uid }),
  async batchDelete(v2, { parentId: parent, ids: names }) {
    const deleted = await v2.answer(batchDeleteExternalGroupRoleMappings, { parent, names });
    return { parentId: deleted.parent, items: deleted.externalGroupRoleMappings.map(ofGroup.toV1) };
  },
});
