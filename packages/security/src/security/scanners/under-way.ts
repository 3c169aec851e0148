import { type Database, statement } from "@moorage/kernel/store";
import { OPEN_STATES } from "./rows.ts";

const selectHeld = statement(`select 1 from scans where uid = ? and holder <> '' and ${OPEN_STATES}`);

/** Whether a process has the scan done at present: only then is the token good that its adapter was given. */
export async function isScanUnderWay(tx: Database, uid: string): Promise<boolean> {
  return (await selectHeld(tx, uid)).length > 0;
}
