import { setTimeout as wait } from "node:timers/promises";
import type { Call, CallData } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { select, takeAdvisoryLock } from "@moorage/kernel/store";
import { VERIFYING } from "../command-options.ts";
import { IS_ATTACHED } from "./statuses.ts";

const PAGE = 100;
const PAUSE_MS = 20;

type Place = readonly [certificate: string, issuer: string];

/**
 * Goes over a page of what authorities say, and removes what is about certificates of no signature that is attached.
 * Answers where the next page begins, undefined after the last.
 */
export const removeUnusedCertificateStatuses = command(
  "trust.removeUnusedCertificateStatuses",
  async ({ tx }: Call, { after }: { after: Place }): Promise<{ next?: Place; removed: number }> => {
    await takeAdvisoryLock(tx, "signatures");
    const rows = await select<{ certificate: string; issuer: string; used: number }>(
      tx,
      `select s.certificate, s.issuer, case when exists (select 1 from certificate_status_uses as u
         where u.certificate = s.certificate and u.issuer = s.issuer and ${IS_ATTACHED}) then 1 else 0 end as used
       from certificate_statuses as s where (s.certificate, s.issuer) > (?, ?) order by s.certificate, s.issuer limit ${PAGE}`,
      after,
    );
    let removed = 0;
    for (const { certificate, issuer, used } of rows) {
      if (Number(used) === 1) continue;
      for (const table of ["certificate_status_uses", "certificate_statuses"] as const)
        await tx.deleteFrom(table).where("certificate", "=", certificate).where("issuer", "=", issuer).execute();
      removed += 1;
    }
    const last = rows.at(-1);
    return rows.length < PAGE || last === undefined ? { removed } : { next: [last.certificate, last.issuer], removed };
  },
  VERIFYING,
);

/** Removes what nothing depends on any longer, a page at a time. Answers of how many certificates. */
export async function removeStatuses(
  { transactor, data }: { transactor: Transactor; data: CallData },
  signal: AbortSignal,
): Promise<{ certificates: number }> {
  let certificates = 0;
  for (let after: Place | undefined = ["", ""]; after !== undefined;) {
    signal.throwIfAborted();
    const page: { next?: Place; removed: number } = await transactor.write(removeUnusedCertificateStatuses, data, {
      after,
    });
    certificates += page.removed;
    after = page.next;
    if (after !== undefined) await wait(PAUSE_MS);
  }
  return { certificates };
}
