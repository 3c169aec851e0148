import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { select, takeAdvisoryLock } from "@moorage/kernel/store";
import { VERIFYING } from "../command-options.ts";
import { awaitReading } from "./check.ts";

const PAGE = 100;

/**
 * Has a page of what is attached below the group of a changed signer verified anew. Answers false when no signer has
 * changed.
 */
export const checkNextSigner = command(
  "trust.checkNextSigner",
  async (call: Call, _input: Record<string, never>): Promise<{ checked: boolean }> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "signatures");
    const next = await tx
      .selectFrom("signer_checks")
      .selectAll()
      .orderBy("create_time")
      .orderBy("signer")
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return { checked: false };
    const { signer, parent } = next;
    // Uids of repos below the group begin with its own and a slash; a zero comes after the slash.
    const rows = await select<{ repo: string; subject: string; manifest: string }>(
      tx,
      `select distinct s.repo, s.subject, s.manifest from signature_sources as s
       where (s.repo, s.subject, s.manifest) > (?, ?, ?) and s.repo > ? and s.repo < ? and s.until_time is null
       order by s.repo, s.subject, s.manifest limit ${PAGE}`,
      [next.repo, next.subject, next.manifest, `${parent}/`, `${parent}0`],
    );
    for (const { subject, manifest } of rows) await awaitReading(call, subject, manifest);
    const last = rows.at(-1);
    if (rows.length < PAGE || last === undefined)
      await tx.deleteFrom("signer_checks").where("signer", "=", signer).execute();
    else await tx.updateTable("signer_checks").set(last).where("signer", "=", signer).execute();
    return { checked: true };
  },
  VERIFYING,
);
