import { newUid } from "../../../kernel/src/lib/uid.ts";
import type { Database } from "../../../kernel/src/store/index.ts";

/** A role of the whole installation with the capabilities; its uid. */
export async function insertRole(db: Database, name: string, capabilities: number[]): Promise<string> {
  const uid = newUid("");
  const nowMs = Date.now();
  await db
    .insertInto("roles")
    .values({
      uid,
      parent: "",
      name,
      description: "",
      capabilities: JSON.stringify(capabilities),
      create_time: nowMs,
      update_time: nowMs,
    })
    .execute();
  return uid;
}

/** An identity that holds each role on the group beside it; its uid. `relationship`: in JSON. */
export async function insertIdentity(
  db: Database,
  name: string,
  bindings: [group: string, role: string][],
  relationship = "{}",
): Promise<string> {
  const uid = newUid("");
  const nowMs = Date.now();
  await db
    .insertInto("identities")
    .values({
      uid,
      parent: "",
      name,
      description: "",
      email: "",
      email_unverified: "",
      company: "",
      relationship_type: 0,
      relationship,
      issuer: "",
      subject: "",
      last_seen_time: null,
      create_time: nowMs,
      update_time: nowMs,
    })
    .execute();
  for (const [group, role] of bindings) {
    await db
      .insertInto("role_bindings")
      .values({ uid: newUid(group), parent: group, identity_uid: uid, role_uid: role, create_time: nowMs })
      .execute();
  }
  return uid;
}
