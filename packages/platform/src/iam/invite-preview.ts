import { MoorageError } from "@moorage/kernel/errors";
import { organizationOf, parentOf } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";
import { inviteOf, requireValid } from "./accept-invite.ts";

/** What whoever has the code of an invite may know of it. */
export interface InvitePreview {
  /** The uid of the organization that the invite's group is in. */
  organization: string;
  /** The group's path, such as `acme/team`; the organization's name comes first. */
  path: string;
  role: string;
  roleDescription: string;
  /** When it ends, in milliseconds since 1970. */
  expireTimeMs: number;
  /** Whether only somebody with a verified e-mail address may accept it. */
  isForAddress: boolean;
}

/**
 * What the invite with this code gives. Undefined for all that cannot be accepted any more and for codes that never
 * were, alike.
 */
export async function invitePreview(tx: Database, code: string, nowMs: number): Promise<InvitePreview | undefined> {
  const invite = await inviteOf(tx, code);
  if (invite === undefined || !(await isValid(tx, invite, nowMs))) return undefined;
  const path = await groupPath(tx, invite.parent);
  const role = await tx
    .selectFrom("roles")
    .select(["name", "description"])
    .where("uid", "=", invite.role_uid)
    .executeTakeFirst();
  if (path === undefined || role === undefined) return undefined;
  return {
    organization: organizationOf(invite.parent),
    path,
    role: role.name,
    roleDescription: role.description,
    expireTimeMs: invite.expiration_time,
    isForAddress: invite.email !== "",
  };
}

/** The path of a group, such as `acme/team`; undefined when it is gone. */
export async function groupPath(tx: Database, group: string): Promise<string | undefined> {
  const uids: string[] = [];
  for (let uid = group; uid !== ""; uid = parentOf(uid)) uids.push(uid);
  const rows = await tx.selectFrom("groups").select(["uid", "name"]).where("uid", "in", uids).execute();
  const names = uids.toReversed().map((uid) => rows.find((row) => row.uid === uid)?.name);
  return names.includes(undefined) ? undefined : names.join("/");
}

type Invite = NonNullable<Awaited<ReturnType<typeof inviteOf>>>;

async function isValid(tx: Database, invite: Invite, nowMs: number): Promise<boolean> {
  try {
    await requireValid({ tx, nowMs }, invite);
    return true;
  } catch (error) {
    if (error instanceof MoorageError) return false;
    throw error;
  }
}
