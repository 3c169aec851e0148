import type { Call } from "@moorage/kernel/core/call";
import { parentOf } from "@moorage/kernel/lib/uid";
import { noteJudgingSigner } from "../policies/changes.ts";

/**
 * Notes that the signer was made, changed or deleted: what is attached below its group is verified anew. One row,
 * however many signatures there are; what waits for the signer already begins anew.
 */
export async function noteSignerChange({ tx, nowMs, wake }: Call, signer: string): Promise<void> {
  await noteJudgingSigner({ tx }, parentOf(signer));
  const from = { repo: "", subject: "", manifest: "", create_time: nowMs };
  await tx
    .insertInto("signer_checks")
    .values({ signer, parent: parentOf(signer), ...from })
    .onConflict((on) => on.column("signer").doUpdateSet(from))
    .execute();
  wake("signatures");
}
