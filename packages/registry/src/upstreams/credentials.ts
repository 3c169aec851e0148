import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { RegistryUpstream } from "@moorage/api/messages";
import { isNamed } from "@moorage/kernel/aip/masks";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Database, Row } from "@moorage/kernel/store";

/** The purpose for which an upstream's password is sealed. */
export function credentialPlace(uid: string): string {
  return `registry-upstream:${uid}`;
}

/** Whether the stored password stays: it is sent only as the user that it was given for. */
export function keepsCredential(
  before: Pick<Row<"registry_upstreams">, "username">,
  after: Pick<RegistryUpstream, "username" | "password">,
  mask: FieldMask | undefined,
): boolean {
  return before.username === after.username && after.password === "" && !isNamed(mask, "password");
}

/** Seals passwords again that are sealed with an older key. */
export async function resealUpstreams(tx: Database, secrets: Secrets): Promise<void> {
  for (const { uid, credential } of await tx
    .selectFrom("registry_upstreams")
    .select(["uid", "credential"])
    .where("credential", "!=", "")
    .execute()) {
    if (secrets.isCurrent(credential)) continue;
    const sealed = secrets.seal(secrets.open(credential, credentialPlace(uid)), credentialPlace(uid));
    await tx.updateTable("registry_upstreams").set({ credential: sealed }).where("uid", "=", uid).execute();
  }
}
