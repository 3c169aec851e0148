import { create } from "@bufbuild/protobuf";
import { GroupSchema, GroupsService, type OrgKind } from "@moorage/api/messages";
import { columnIsIfSet, listStored, storedListOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { countedBelow, storedGet } from "@moorage/kernel/aip/resource";
import { validate } from "@moorage/kernel/aip/validate";
import { newUid } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import { failedPrecondition, invalidArgument, type PreconditionViolation } from "@moorage/kernel/errors";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import type { Row } from "@moorage/kernel/store";
import { emitBinding } from "./binding-answers.ts";
import { GROUP_LAYOUT, groups, insertGroup, requireUsable } from "./groups.ts";
import { removeLastWayIn } from "./last-way-in.ts";
import { keepFreedName, requireNameFree } from "./organization-names.ts";

const MAX_LABEL_KEY = 63;
const MAX_LABEL_VALUE = 256;
const getGroup = storedGet("groups", GROUP_LAYOUT);
const LIST = storedListOf(
  {
    method: GroupsService.method.listGroups,
    table: "groups",
    defaultOrder: "name",
    orderBy: sortable("name", "description", "kind", "create_time", "update_time", "uid"),
  },
  GROUP_LAYOUT,
);

export function groupsService(context: ServiceContext): Service<typeof GroupsService> {
  const { pageTokenKey, ownerRole } = context;
  return {
    getGroup: (call, { uid }) => getGroup(call.tx, uid),
    listGroups: (call, request) =>
      listStored(call, pageTokenKey, LIST, request, { filters: ({ name }) => columnIsIfSet("name", name) }),
    async createGroup(call, { parent, group = create(GroupSchema) }) {
      validate(GroupSchema, group);
      requireLabels(group.costLabels);
      if (parent !== "") await groups.get(call.tx, parent);
      else await requireNameFree(call, group.name);
      const made = await insertGroup(call, parent, group);
      if (parent === "") await bindOwner(call, made.uid, ownerRole);
      return groups.toMessage(made);
    },
    updateGroup: (call, { group = create(GroupSchema), updateMask }) =>
      groups.patch(call, group.uid, group, updateMask, async (before, after) => {
        if (before.name !== after.name) await rename(call, before, after.name);
        requireLabels(after.costLabels);
        if (before.parent !== "") after.kind = before.kind as OrgKind;
        else if (before.kind !== after.kind) await setKindBelow(call, before.uid, after.kind);
      }),
    async deleteGroup(call, { uid }) {
      const row = await groups.get(call.tx, uid);
      const left = await leftBelow(call, uid);
      // What the last owner signs in by cannot be removed before its organization.
      const isLast = row.parent === "" && left.length === 1 && (await removeLastWayIn(call, context, uid));
      if (left.length > 0 && !isLast) throw failedPrecondition(...left);
      for (const { end } of call.below.group) await end?.(call, uid);
      if (row.parent === "") await keepFreedName(call, row.name, uid);
      await groups.remove(call, row);
      return {};
    },
  };
}

/** Throws INVALID_ARGUMENT for labels that are too long: they stand in each row of usage. */
function requireLabels(labels: Readonly<Record<string, string>>): void {
  const violations = Object.entries(labels).flatMap(([key, value]) =>
    key === "" || key.length > MAX_LABEL_KEY || value.length > MAX_LABEL_VALUE
      ? [
          {
            field: "costLabels",
            description: `have keys of 1 to ${MAX_LABEL_KEY} characters, values of at most ${MAX_LABEL_VALUE}`,
          },
        ]
      : [],
  );
  if (violations.length > 0) throw invalidArgument(...violations.slice(0, 1));
}

async function rename(call: Call, { uid, parent, name: from }: Row<"groups">, to: string): Promise<void> {
  requireUsable(to);
  if (parent === "") await requireNameFree(call, to, uid);
  await groups.requireFree(call.tx, parent, to);
  if (parent === "") await keepFreedName(call, from, uid);
}

async function setKindBelow(call: Call, organization: string, kind: OrgKind): Promise<void> {
  await call.tx
    .updateTable("groups")
    .set({ kind })
    .where("uid", ">=", `${organization}/`)
    .where("uid", "<", `${organization}0`)
    .execute();
}

// The creator of an organization becomes its owner.
async function bindOwner(call: Call, group: string, role: string): Promise<void> {
  const row = {
    uid: newUid(group),
    parent: group,
    identity_uid: call.caller.identity,
    role_uid: role,
    create_time: call.nowMs,
  };
  await call.tx.insertInto("role_bindings").values(row).execute();
  await emitBinding(call, row);
}

const countGroups = countedBelow({ groups: "groups" });

async function leftBelow(call: Call, uid: string): Promise<PreconditionViolation[]> {
  const left = await countGroups(call, uid);
  for (const { hindrances } of call.below.group) left.push(...((await hindrances?.(call, uid)) ?? []));
  return left.map(({ words, count }) => ({
    type: "RESOURCE_NOT_EMPTY",
    subject: uid,
    description: `the group still has ${words}: ${count}`,
  }));
}
