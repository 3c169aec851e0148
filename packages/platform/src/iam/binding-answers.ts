import type { MessageInitShape } from "@bufbuild/protobuf";
import { ResourceDeletedSchema, RoleBindingSchema } from "@moorage/api/messages";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { Actor, Call } from "@moorage/kernel/core/call";
import type { Row } from "@moorage/kernel/store";
import { arePublicGroupsOn, builtInIdentity, isBuiltInIdentity, PUBLIC_GROUPS_OFF } from "./built-in-identities.ts";

type Hydrated = MessageInitShape<typeof RoleBindingSchema>;

/** A role binding as a response shows it. */
export async function hydratedBinding(call: Call, row: Row<"role_bindings">): Promise<Hydrated> {
  const [binding = {}] = await hydratedBindings(call, [row]);
  return binding;
}

/** Role bindings as responses show them, with what they refer to. Source: docs/contract.md, "Resources". */
export async function hydratedBindings(call: Call, rows: Row<"role_bindings">[]): Promise<Hydrated[]> {
  if (rows.length === 0) return [];
  const distinct = (uids: string[]): string[] => [...new Set(uids)];
  const columns = ["uid", "name", "description"] as const;
  const [identityRows, groupRows, roleRows] = [
    await call.tx
      .selectFrom("identities")
      .select([...columns, "subject", "issuer", "email", "last_seen_time"])
      .where("uid", "in", distinct(rows.map((row) => row.identity_uid)))
      .execute(),
    await call.tx
      .selectFrom("groups")
      .select(columns)
      .where("uid", "in", distinct(rows.map((row) => row.parent)))
      .execute(),
    await call.tx
      .selectFrom("roles")
      .select(columns)
      .where("uid", "in", distinct(rows.map((row) => row.role_uid)))
      .execute(),
  ];
  const identityOf = new Map(
    identityRows.map(({ last_seen_time: seenMs, ...row }) => [
      row.uid,
      { ...row, ...(seenMs !== null && { lastSeenTime: timestamp(seenMs) }) },
    ]),
  );
  const groupOf = new Map(groupRows.map((row) => [row.uid, row]));
  const roleOf = new Map(roleRows.map((row) => [row.uid, row]));
  const hasOpen = rows.some((row) => isBuiltInIdentity(row.identity_uid));
  const inactiveReason = hasOpen && !(await arePublicGroupsOn(call.tx)) ? PUBLIC_GROUPS_OFF : "";
  return rows.map((row) => ({
    uid: row.uid,
    createTime: timestamp(row.create_time),
    ...(inactiveReason !== "" && isBuiltInIdentity(row.identity_uid) && { inactiveReason }),
    identity: { ...(builtInIdentity(row.identity_uid) ?? identityOf.get(row.identity_uid)) },
    group: { ...groupOf.get(row.parent) },
    role: { ...roleOf.get(row.role_uid) },
  }));
}

/**
 * Emits the event for a binding that was not made by a method of RoleBindings. `by`: the actor, if it is not the
 * caller.
 */
export async function emitBinding(call: Call, row: Row<"role_bindings">, by?: Actor | "system"): Promise<void> {
  call.emit(RoleBindingSchema, {
    type: "api.iam.rolebindings.created.v1",
    subject: row.uid,
    group: row.parent,
    body: await hydratedBinding(call, row),
    ...(by === "system" ? { isSystem: true } : by && { by }),
  });
}

/** Emits the events for bindings that were deleted together with what they bound. */
export function emitLostBindings(call: Call, uids: readonly string[]): void {
  for (const uid of uids)
    call.emit(ResourceDeletedSchema, {
      type: "api.iam.rolebindings.deleted.v1",
      subject: uid,
      group: parentOf(uid),
      body: { uid },
    });
}
