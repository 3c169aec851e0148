import { OrgKind, OrgStatus } from "@moorage/api/messages";
import { newUid } from "@moorage/kernel/lib/uid";
import { addToAncestors, type Database } from "@moorage/kernel/store";

// What an empty installation begins with: nobody calls, so no rights are asked and nothing is emitted.

/** Makes the identity that owns the first organizations. Returns its uid. */
export async function insertFirstIdentity(tx: Database, nowMs: number): Promise<string> {
  const uid = newUid("");
  await tx
    .insertInto("identities")
    .values({
      uid,
      parent: "",
      name: "owner",
      description: "made at the first start",
      email: "",
      email_unverified: "",
      company: "",
      relationship_type: 0,
      relationship: "",
      issuer: "",
      subject: "",
      last_seen_time: null,
      create_time: nowMs,
      update_time: nowMs,
    })
    .execute();
  return uid;
}

/** Makes an organization that the identity `owner` owns. Returns its uid. */
export async function insertOrganization(
  tx: Database,
  { name, owner, ownerRole, nowMs }: { name: string; owner: string; ownerRole: string; nowMs: number },
): Promise<string> {
  const uid = newUid("");
  await tx
    .insertInto("groups")
    .values({
      uid,
      parent: "",
      name,
      description: "",
      verified: 0,
      kind: OrgKind.UNSPECIFIED,
      status: OrgStatus.READY,
      resource_limits: "{}",
      create_time: nowMs,
      update_time: nowMs,
    })
    .execute();
  await addToAncestors(tx, "groups", uid, name);
  await tx
    .insertInto("role_bindings")
    .values({ uid: newUid(uid), parent: uid, identity_uid: owner, role_uid: ownerRole, create_time: nowMs })
    .execute();
  return uid;
}
