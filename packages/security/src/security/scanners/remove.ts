import { setTimeout as wait } from "node:timers/promises";
import { ScanType } from "@moorage/api/messages";
import type { Call, CallData } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { type Database, select, takeAdvisoryLock } from "@moorage/kernel/store";
import { deleteScans, SCANNING } from "./rows.ts";

const PAGE = 200;
const PAUSE_MS = 20;

/**
 * Goes over a page of scans, and removes those of images that their repo does not hold any longer and those of scanners
 * that are gone. Answers where the next page begins, undefined after the last.
 */
export const reviewScans = command(
  "security.reviewScans",
  async ({ tx }: Call, { after }: { after: string }): Promise<{ next?: string; removed: number }> => {
    // What tags move to meanwhile is added under the same lock.
    await takeAdvisoryLock(tx, "scans");
    await takeAdvisoryLock(tx, "catalogs");
    const rows = await select<{ uid: string; digest: string; is_used: number }>(
      tx,
      `select s.uid, s.digest, case when exists (select 1 from manifests as m where m.repo = s.parent and m.digest = s.digest)
         and exists (select 1 from scanners as c where c.uid = s.scanner) then 1 else 0 end as is_used
       from scans as s where s.uid > ? order by s.uid limit ${PAGE}`,
      [after],
    );
    const gone = rows.filter((row) => row.is_used === 0);
    await deleteScans(tx, gone);
    const last = rows.at(-1);
    return rows.length < PAGE || last === undefined
      ? { removed: gone.length }
      : { next: last.uid, removed: gone.length };
  },
  SCANNING,
);

/**
 * Removes the scans of a repo that is deleted. Those that named packages are left to the job that removes these, which
 * takes locks.
 */
export async function deleteScansOfRepo(tx: Database, repo: string): Promise<void> {
  const scans = tx
    .selectFrom("scans")
    .select("uid")
    .where("parent", "=", repo)
    .where("type", "=", ScanType.VULNERABILITY);
  await tx.deleteFrom("scan_reports").where("scan", "in", scans).execute();
  await tx.deleteFrom("scans").where("uid", "in", scans).execute();
}

/** Removes scans that are about nothing any longer. `signal` ends it between two steps, and it rejects then. */
export async function removeUnusedScans(
  { transactor, data }: { transactor: Transactor; data: CallData },
  signal: AbortSignal,
): Promise<{ scans: number }> {
  let scans = 0;
  for (let after: string | undefined = ""; after !== undefined;) {
    signal.throwIfAborted();
    const { next, removed }: { next?: string; removed: number } = await transactor.write(reviewScans, data, { after });
    scans += removed;
    after = next;
    await wait(PAUSE_MS);
  }
  return { scans };
}
