import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { takeAdvisoryLock } from "@moorage/kernel/store";
import { VERIFYING } from "../command-options.ts";
import { noteSignersOf, OF_SETTINGS } from "./naming.ts";

/** Notes with which trusted root this program verifies. With another one than before, identities are verified anew. */
export const noteTrustRoot = command(
  "trust.noteTrustRoot",
  async (call: Call, { hash }: { hash: string }): Promise<void> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "signatures");
    const row = await tx
      .selectFrom("signature_roots")
      .select("hash")
      .where("name", "=", OF_SETTINGS)
      .executeTakeFirst();
    if (row?.hash === hash) return;
    await tx
      .insertInto("signature_roots")
      .values({ name: OF_SETTINGS, hash })
      .onConflict((on) => on.column("name").doUpdateSet({ hash }))
      .execute();
    await noteSignersOf(call, OF_SETTINGS);
  },
  VERIFYING,
);
