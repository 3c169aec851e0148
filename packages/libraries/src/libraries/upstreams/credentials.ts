import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { Upstream } from "@moorage/api/messages";
import { isNamed } from "@moorage/kernel/aip/masks";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Database, Row } from "@moorage/kernel/store";

/** The purpose for which an upstream's password is sealed. */
export function credentialPlace(uid: string): string {
  return `upstream:${uid}`;
}

/** Whether the stored password stays: it is sent only to the registry, and as the user, that it was given for. */
export function keepsCredential(
  before: Pick<Row<"upstreams">, "url" | "username">,
  after: Pick<Upstream, "url" | "username" | "password">,
  mask: FieldMask | undefined,
): boolean {
  return (
    before.url === after.url &&
    before.username === after.username &&
    after.password === "" &&
    !isNamed(mask, "password")
  );
}

/** Seals passwords again that are sealed with an older key. */
export async function resealUpstreams(tx: Database, secrets: Secrets): Promise<void> {
  for (const { uid, credential } of await tx
    .selectFrom("upstreams")
    .select(["uid", "credential"])
    .where("credential", "!=", "")
    .execute()) {
    if (secrets.isCurrent(credential)) continue;
    const sealed = secrets.seal(secrets.open(credential, credentialPlace(uid)), credentialPlace(uid));
    await tx.updateTable("upstreams").set({ credential: sealed }).where("uid", "=", uid).execute();
  }
}
