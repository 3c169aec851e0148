import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Database } from "@moorage/kernel/store";

/** The purpose for which a scanner's authorization is sealed. */
export function credentialPlace(uid: string): string {
  return `scanner:${uid}`;
}

/** Seals authorizations again that are sealed with an older key. */
export async function resealScanners(tx: Database, secrets: Secrets): Promise<void> {
  for (const { uid, credential } of await tx
    .selectFrom("scanners")
    .select(["uid", "credential"])
    .where("credential", "!=", "")
    .execute()) {
    if (secrets.isCurrent(credential)) continue;
    const sealed = secrets.seal(secrets.open(credential, credentialPlace(uid)), credentialPlace(uid));
    await tx.updateTable("scanners").set({ credential: sealed }).where("uid", "=", uid).execute();
  }
}
