import { setTimeout as wait } from "node:timers/promises";
import type { Call, CallData } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { select, takeAdvisoryLock } from "@moorage/kernel/store";
import { VERIFYING } from "../command-options.ts";

const PAGE = 100;
const PAUSE_MS = 20;

type Place = readonly [subject: string, manifest: string];

/**
 * Goes over a page of what was verified, and removes what no repo has or had attached any longer. Answers where the
 * next page begins, undefined after the last.
 */
export const removeUnusedReadings = command(
  "trust.removeUnusedReadings",
  async ({ tx }: Call, { after }: { after: Place }): Promise<{ next?: Place; removed: number }> => {
    await takeAdvisoryLock(tx, "signatures");
    const rows = await select<{ subject: string; manifest: string; used: number }>(
      tx,
      `select r.subject, r.manifest, case when exists (select 1 from signature_sources as s where s.subject = r.subject and s.manifest = r.manifest) then 1 else 0 end as used
       from signature_readings as r where (r.subject, r.manifest) > (?, ?) order by r.subject, r.manifest limit ${PAGE}`,
      after,
    );
    let removed = 0;
    for (const { subject, manifest } of rows.filter(({ used }) => used === 0)) {
      for (const table of [
        "certificate_status_uses",
        "signature_verdicts",
        "signature_entries",
        "signature_readings",
      ] as const)
        await tx.deleteFrom(table).where("subject", "=", subject).where("manifest", "=", manifest).execute();
      removed += 1;
    }
    const last = rows.at(-1);
    return rows.length < PAGE || last === undefined ? { removed } : { next: [last.subject, last.manifest], removed };
  },
  VERIFYING,
);

/** Removes what is known of signatures that no repo has any longer, a page at a time. Answers of how many manifests. */
export async function removeUnusedSignatures(
  { transactor, data }: { transactor: Transactor; data: CallData },
  signal: AbortSignal,
): Promise<{ signatures: number }> {
  let signatures = 0;
  for (let after: Place | undefined = ["", ""]; after !== undefined;) {
    signal.throwIfAborted();
    const page: { next?: Place; removed: number } = await transactor.write(removeUnusedReadings, data, { after });
    signatures += page.removed;
    after = page.next;
    if (after !== undefined) await wait(PAUSE_MS);
  }
  return { signatures };
}
