import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { Replication } from "@moorage/api/messages";
import { isNamed } from "@moorage/kernel/aip/masks";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Database, Row } from "@moorage/kernel/store";

/** The purpose for which a replication's password is sealed. */
export function credentialPlace(uid: string): string {
  return `replication:${uid}`;
}

/** Whether the stored password stays: it is sent only to the destination and as the user that it was given for. */
export function keepsCredential(
  before: Pick<Row<"replications">, "destination" | "username">,
  after: Pick<Replication, "destination" | "username" | "password">,
  mask: FieldMask | undefined,
): boolean {
  const isSame = before.username === after.username && before.destination === after.destination;
  return isSame && after.password === "" && !isNamed(mask, "password");
}

/** Seals passwords again that are sealed with an older key. */
export async function resealReplications(tx: Database, secrets: Secrets): Promise<void> {
  for (const { uid, credential } of await tx
    .selectFrom("replications")
    .select(["uid", "credential"])
    .where("credential", "!=", "")
    .execute()) {
    if (secrets.isCurrent(credential)) continue;
    const sealed = secrets.seal(secrets.open(credential, credentialPlace(uid)), credentialPlace(uid));
    await tx.updateTable("replications").set({ credential: sealed }).where("uid", "=", uid).execute();
  }
}
