import { type Database, select } from "@moorage/kernel/store";
import { OPEN_STATES } from "./rows.ts";

/** The most scanners that are looked at in one go. */
const MAX_SCANNERS = 200;

/** The uids of scanners that have something to do, those first whose scans are due longest. */
export async function dueScanners(tx: Database, agreedMs: number): Promise<string[]> {
  const rows = await select<{ uid: string; due: number | null }>(
    tx,
    `select c.uid, (select min(s.hold_until) from scans as s where s.scanner = c.uid and s.${OPEN_STATES}) as due
     from scanners as c where c.disabled = 0 and exists (select 1 from scans as s where s.scanner = c.uid and s.${OPEN_STATES} and s.hold_until <= ?)
     order by due, c.uid limit ${MAX_SCANNERS}`,
    [agreedMs],
  );
  return rows.map(({ uid }) => uid);
}
