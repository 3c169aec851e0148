import {
  GroupInvite_InvitedRoleSchema,
  GroupInviteSchema as V2GroupInvite,
  GroupInvitesService,
} from "@moorage/api/messages";
import {
  GroupInviteListSchema,
  GroupInviteRequestSchema,
  GroupInvites,
  GroupInviteSchema,
  RoleSchema,
  StoredGroupInviteSchema,
} from "@moorage/api/v1/iam";
import type { Method } from "../../runtime/methods.ts";
import { mapping, nested, V1_ONLY } from "../mapping.ts";
import { translated } from "../service.ts";
import { itemsOf, listed, withId, withParent } from "../v2.ts";
import { capabilities } from "./roles.ts";

const role = mapping(RoleSchema, GroupInvite_InvitedRoleSchema, {
  id: "uid",
  name: "name",
  description: "description",
  capabilities,
});

const asked = mapping(GroupInviteRequestSchema, V2GroupInvite, {
  // The parent of the new invite.
  group: V1_ONLY,
  ttl: "ttl",
  role: "roleUid",
  email: "email",
  singleUse: "singleUse",
});

/** A new invite, with its code. */
const made = mapping(GroupInviteSchema, V2GroupInvite, {
  id: "uid",
  expiration: "expirationTime",
  keyId: "keyId",
  role: nested("role", role),
  code: "code",
});

const stored = mapping(StoredGroupInviteSchema, V2GroupInvite, {
  id: "uid",
  expiration: "expirationTime",
  keyId: "keyId",
  role: nested("role", role),
  email: "email",
  createdAt: "createTime",
  singleUse: "singleUse",
});

const { createGroupInvite, deleteGroupInvite, listGroupInvites } = GroupInvitesService.method;

/** moorage.iam.GroupInvites. Only the answer of a Create has the code. */
export const groupInvites: [string, Method][] = translated(GroupInvites, [asked], {
  create: async (v2, request) =>
    made.toV1(await v2.answer(createGroupInvite, { parent: request.group, groupInvite: asked.toV2(request) })),
  list: (v2, { group, id, keyId }) =>
    listed(
      GroupInviteListSchema,
      v2.pages(listGroupInvites, { uidp: withParent(withId(undefined, id), group), keyId }),
      itemsOf(stored, "groupInvites"),
    ),
  delete: (v2, { id: uid }) => v2.answer(deleteGroupInvite, { uid }),
});
