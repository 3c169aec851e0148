import { create } from "@bufbuild/protobuf";
import { type Group, GroupSchema, type OrgKind, OrgStatus } from "@moorage/api/messages";
import { resource } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import { validate } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument } from "@moorage/kernel/errors";
import type { Row } from "@moorage/kernel/store";

/** How groups are stored. */
export const GROUP_LAYOUT = layoutOf(GroupSchema);
const toRow = columnsOf(GROUP_LAYOUT, "groups", ["name", "description", "kind", "verified", "cost_labels"]);

export const groups = resource({
  message: GroupSchema,
  table: "groups",
  kind: "groups",
  toMessage: GROUP_LAYOUT.ofRow,
  toRow,
});

// Every level makes the uids below it longer.
const MAX_DEPTH = 16;

/** Creates a group with only a name, as a push to a path does. The caller's rights have been checked before. */
export async function createGroupNamed(call: Call, parent: string, name: string): Promise<string> {
  const group = create(GroupSchema, { name });
  validate(GroupSchema, group);
  const row = await insertGroup(call, parent, group);
  call.emit(GroupSchema, {
    type: "api.iam.group.created.v1",
    subject: row.uid,
    group: row.uid,
    body: groups.toMessage(row),
  });
  return row.uid;
}

/** Inserts a valid group below a parent that is there, "" for an organization. */
export async function insertGroup(call: Call, parent: string, group: Group): Promise<Row<"groups">> {
  requireUsable(group.name);
  if (parent.split("/").length >= MAX_DEPTH)
    throw invalidArgument({ field: "parent", description: `groups are at most ${MAX_DEPTH} levels deep` });
  return await groups.insert(call, parent, {
    ...toRow(group),
    ...(parent !== "" && { kind: await kindOf(call, parent) }),
    status: OrgStatus.READY,
    resource_limits: "{}",
    create_time: call.nowMs,
    update_time: call.nowMs,
  });
}

/** Has the group show these limits, which others keep: docs/quotas.md. */
export async function showLimits(call: Call, group: string, limits: Record<string, number>): Promise<void> {
  const resource_limits = JSON.stringify(limits);
  await call.tx.updateTable("groups").set({ resource_limits }).where("uid", "=", group).execute();
}

/** Words that stand after the path of a group in the URLs of libraries. Groups that are called so keep their names. */
const RESERVED: readonly string[] = ["-", "-rev", "simple", "legacy"];

/** Throws INVALID_ARGUMENT for a name that no group may have. */
export function requireUsable(name: string): void {
  if (RESERVED.includes(name))
    throw invalidArgument({ field: "name", description: "is reserved: it follows a group in the URLs of libraries" });
}

/** The kind of the organization that a group is in. */
async function kindOf(call: Call, group: string): Promise<OrgKind> {
  const [organization = ""] = group.split("/", 1);
  return (await groups.get(call.tx, organization)).kind as OrgKind;
}
