import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Database } from "@moorage/kernel/store";
import { accountPlace } from "./rows.ts";

/** Seals secrets of authenticator apps again that are sealed with an older key. */
export async function resealAccounts(tx: Database, secrets: Secrets): Promise<void> {
  const rows = await tx.selectFrom("accounts").select(["identity", "totp"]).where("totp", "!=", "").execute();
  for (const { identity, totp } of rows) {
    if (secrets.isCurrent(totp)) continue;
    const place = accountPlace(identity);
    const sealed = secrets.seal(secrets.open(totp, place), place);
    await tx.updateTable("accounts").set({ totp: sealed }).where("identity", "=", identity).execute();
  }
}
