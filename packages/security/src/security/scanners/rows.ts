import { ScanState } from "@moorage/api/messages";
import type { CommandOptions } from "@moorage/kernel/core/command";
import type { Database, Row } from "@moorage/kernel/store";
import { deletePackages } from "../catalog/remove.ts";
import { scanSource } from "../attached/sources.ts";

/** The states of scans that are to be done. The index `scans_due` has these, and queries name them as it does. */
export const OPEN_STATES = "state < 3";

/** A scan that waits to be done, or done again. */
export const WAITING = { state: ScanState.WAITING, attempts: 0, reason: "" } as const;

/**
 * The options of the commands of scans. Each statement sees what was committed before it began. That is enough: a
 * command that goes on with a scan first changes its row, on condition that it still holds it, and claims wait for each
 * other. Serializable transactions could conflict with requests for scans, which insert into the range of what is due.
 */
export const SCANNING = { isolation: "read committed" } as const satisfies CommandOptions;

/** Removes what a bill of materials named, for a command that has locked the catalogs. */
export async function deleteScanned(
  tx: Database,
  { uid, digest }: Pick<Row<"scans">, "uid" | "digest">,
): Promise<void> {
  while (!(await deletePackages(tx, digest, scanSource(uid))));
}

/** Removes scans with their reports and packages, for a command that has locked the catalogs. */
export async function deleteScans(tx: Database, scans: readonly Pick<Row<"scans">, "uid" | "digest">[]): Promise<void> {
  if (scans.length === 0) return;
  for (const scan of scans) await deleteScanned(tx, scan);
  const uids = scans.map(({ uid }) => uid);
  await tx
    .deleteFrom("scan_reports")
    .where("scan", "in", [...uids])
    .execute();
  await tx
    .deleteFrom("scans")
    .where("uid", "in", [...uids])
    .execute();
}
