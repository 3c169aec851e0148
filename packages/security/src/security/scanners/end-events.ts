import { ScanEndedSchema } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { pathOf } from "@moorage/kernel/core/image-path";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { Counts } from "./report.ts";

/** Emits that the scan has a report with these counts, or failed for a reason. */
export async function emitEnded(
  call: Call,
  uid: string,
  { reason, counts }: { reason: string; counts?: Partial<Counts> },
): Promise<void> {
  const { tx } = call;
  const scan = await tx.selectFrom("scans").selectAll().where("uid", "=", uid).executeTakeFirstOrThrow();
  const { fixable: _, ...severities } = { fixable: 0, ...counts };
  call.emit(ScanEndedSchema, {
    type: `vulnerabilities.scan.${counts === undefined ? "failed" : "completed"}.v1`,
    subject: scan.parent,
    group: parentOf(scan.parent),
    isSystem: true,
    body: {
      scan: uid,
      scanner: scan.scanner,
      scannerName: scan.scanner_name,
      repository: await pathOf(tx, scan.parent),
      repoId: scan.parent,
      digest: scan.digest,
      reason,
      ...severities,
    },
  });
}
