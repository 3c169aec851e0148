import { create } from "@bufbuild/protobuf";
import {
  GroupsService,
  IdentitiesService,
  type RoleBinding as V2RoleBinding,
  RoleBindingSchema as V2RoleBindingSchema,
  RoleBindingsService,
  RolesService,
} from "@moorage/api/messages";
import {
  type RoleBinding,
  type RoleBindingList_Binding,
  RoleBindingList_BindingSchema,
  RoleBindingListSchema,
  RoleBindings,
  RoleBindingSchema,
} from "@moorage/api/v1/iam";
import type { Method } from "../../runtime/methods.ts";
import { mapping, V1_ONLY } from "../mapping.ts";
import { translated } from "../service.ts";
import { listed, type V2, withId } from "../v2.ts";
import { group } from "./groups.ts";
import { role } from "./roles.ts";

const binding = mapping(RoleBindingSchema, V2RoleBindingSchema, {
  id: "uid",
  identity: "identityUid",
  // Requests of v2 have the group in the path alone, and no binding moves to another group.
  group: V1_ONLY,
  role: "roleUid",
});

/** Answers of v2 name identity, group and role in messages; those of requests are empty in answers. */
function answerOf({ uid, identity, group, role }: V2RoleBinding): RoleBinding {
  return create(RoleBindingSchema, {
    id: uid,
    identity: identity?.uid ?? "",
    group: group?.uid ?? "",
    role: role?.uid ?? "",
  });
}

const { batchCreateRoleBindings, createRoleBinding, deleteRoleBinding, listRoleBindings, updateRoleBinding } =
  RoleBindingsService.method;
const { listGroups } = GroupsService.method;
const { listIdentities } = IdentitiesService.method;
const { listRoles } = RolesService.method;

/** The paths of v2's batch, of which each request is a binding of v1's. */
const batch = {
  pathOf(path: string): string {
    const [, at = "", parent, rest] = /^requests(\[\d+\])?(\.parent)?(?:\.roleBinding)?(?:\.(.*))?$/.exec(path) ?? [];
    if (!path.startsWith("requests")) return path;
    return parent === undefined ? `roleBindings${at}${rest === undefined ? "" : `.${binding.pathOf(rest)}`}` : "parent";
  },
};

/** moorage.iam.RoleBindings. The group of a new binding is the one in the path. */
export const roleBindings: [string, Method][] = translated(RoleBindings, [binding, batch], {
  create: async (v2, { parent, roleBinding: given }) =>
    answerOf(await v2.answer(createRoleBinding, { parent, ...(given && { roleBinding: binding.toV2(given) }) })),
  async createBatch(v2, { parent, roleBindings: given }) {
    const requests = given.map((each) => ({ parent, roleBinding: binding.toV2(each) }));
    const { roleBindings: made } = await v2.answer(batchCreateRoleBindings, { parent, requests });
    return { roleBindings: made.map(answerOf) };
  },
  update: async (v2, given) =>
    answerOf(await v2.answer(updateRoleBinding, { roleBinding: binding.toV2(given), updateMask: binding.mask })),
  list: (v2, { id, uidp }) =>
    listed(RoleBindingListSchema, v2.pages(listRoleBindings, { uidp: withId(uidp, id) }), ({ roleBindings: page }) =>
      hydrated(v2, page),
    ),
  delete: (v2, { id: uid }) => v2.answer(deleteRoleBinding, { uid }),
});

/**
 * Bindings as lists of v1 have them. Of a role, a group or an identity that the caller may not list, it has what v2
 * answers with the binding: no capabilities, no limits, no address that nobody vouches for.
 */
async function hydrated(v2: V2, page: readonly V2RoleBinding[]): Promise<RoleBindingList_Binding[]> {
  if (page.length === 0) return [];
  const among = (uids: (string | undefined)[]) => ({ uidp: { ids: [...new Set(uids.map((uid) => uid ?? ""))] } });
  const [roles, groups, identities] = [
    await byUid(v2.pages(listRoles, among(page.map((each) => each.role?.uid))), ({ roles }) => roles),
    await byUid(v2.pages(listGroups, among(page.map((each) => each.group?.uid))), ({ groups }) => groups),
    await byUid(v2.pages(listIdentities, among(page.map((each) => each.identity?.uid))), (found) => found.identities),
  ];
  return page.map((each) => {
    const { uid = "", subject, issuer, email } = each.identity ?? {};
    const ofGroup = groups.get(each.group?.uid ?? "");
    const ofRole = roles.get(each.role?.uid ?? "");
    return create(RoleBindingList_BindingSchema, {
      id: each.uid,
      group: ofGroup === undefined ? bare(each.group) : group.toV1(ofGroup),
      identity: uid,
      role: ofRole === undefined ? bare(each.role) : role.toV1(ofRole),
      email: email ?? "",
      emailUnverified: identities.get(uid)?.emailUnverified ?? "",
      claimMatchIssuer: issuer ?? "",
      claimMatchSubject: subject ?? "",
      ...(each.createTime && { createdAt: each.createTime }),
    });
  });
}

type Bound = { uid: string; name: string; description: string };

function bare({ uid: id, name, description }: Bound = { uid: "", name: "", description: "" }): Omit<Bound, "uid"> & {
  id: string;
} {
  return { id, name, description };
}

async function byUid<P, R extends { uid: string }>(
  pages: AsyncIterable<P>,
  resourcesOf: (page: P) => readonly R[],
): Promise<Map<string, R>> {
  const found = new Map<string, R>();
  for await (const page of pages) for (const each of resourcesOf(page)) found.set(each.uid, each);
  return found;
}
