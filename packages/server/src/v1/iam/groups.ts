import { GroupSchema as V2Group, GroupsService } from "@moorage/api/messages";
import { GroupListSchema, Groups, GroupSchema } from "@moorage/api/v1/iam";
import type { Method } from "../../runtime/methods.ts";
import { mapping } from "../mapping.ts";
import { translated } from "../service.ts";
import { itemsOf, listed, withId } from "../v2.ts";

export const group = mapping(GroupSchema, V2Group, {
  id: "uid",
  name: "name",
  description: "description",
  resourceLimits: "resourceLimits",
  verified: "verified",
});

const { createGroup, deleteGroup, listGroups, updateGroup } = GroupsService.method;

/** moorage.iam.Groups. Source: the v1 contract. */
export const groups: [string, Method][] = translated(Groups, [group], {
  create: async (v2, { parent, group: given }) =>
    group.toV1(await v2.answer(createGroup, { parent, ...(given && { group: group.toV2(given) }) })),
  update: async (v2, given) =>
    group.toV1(await v2.answer(updateGroup, { group: group.toV2(given), updateMask: group.mask })),
  list: (v2, { id, name, uidp }) =>
    listed(GroupListSchema, v2.pages(listGroups, { uidp: withId(uidp, id), name }), itemsOf(group, "groups")),
  delete: (v2, { id: uid }) => v2.answer(deleteGroup, { uid }),
});
