import { fromJsonString } from "@bufbuild/protobuf";
import { type ScannerAdapter, ScannerAdapterSchema, type ScanType } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { newUid, parentOf } from "@moorage/kernel/lib/uid";
import type { Database, Row } from "@moorage/kernel/store";
import { WAITING } from "./rows.ts";

/** A scanner that may be asked for scans. */
export interface UsableScanner {
  uid: string;
  name: string;
  disabled: number;
  adapter: Pick<ScannerAdapter, "capabilities">;
}

/** The scanners of the repo's group and of all groups above. */
export async function scannersFor(tx: Database, repo: string): Promise<UsableScanner[]> {
  const above: string[] = [];
  for (let group = parentOf(repo); group !== ""; group = parentOf(group)) above.push(group);
  const rows = await tx
    .selectFrom("scanners")
    .select(["uid", "name", "disabled", "adapter"])
    .where("parent", "in", above)
    .orderBy("name")
    .orderBy("uid")
    .execute();
  return rows.map(({ adapter, ...row }) => ({
    ...row,
    adapter: adapter === null ? { capabilities: [] } : fromJsonString(ScannerAdapterSchema, adapter),
  }));
}

/** What is to be scanned, and by which scanner. */
export interface ScanWish {
  repo: string;
  digest: string;
  type: ScanType;
  scanner: Pick<UsableScanner, "uid" | "name">;
}

/**
 * Has an image scanned before what is due, also if it was scanned before; what is under way goes on. Answers the scan
 * as it is now.
 */
export async function requestScan(call: Call, wish: ScanWish): Promise<Row<"scans">> {
  const { tx, nowMs } = call;
  const row = rowOf(call, wish, 0);
  await tx
    .insertInto("scans")
    .values(row)
    .onConflict((on) =>
      on
        .columns(KEY)
        .doUpdateSet({ ...WAITING, hold_until: row.hold_until, request_time: nowMs })
        .where("scans.holder", "=", ""),
    )
    .execute();
  call.wake("scans");
  return await tx
    .selectFrom("scans")
    .selectAll()
    .where("parent", "=", wish.repo)
    .where("digest", "=", wish.digest)
    .where("scanner", "=", wish.scanner.uid)
    .where("type", "=", wish.type)
    .executeTakeFirstOrThrow();
}

/** Has an image scanned that was not yet. */
export async function addScan(call: Call, wish: ScanWish): Promise<void> {
  await call.tx
    .insertInto("scans")
    .values(rowOf(call, wish, call.agreedMs))
    .onConflict((on) => on.columns(KEY).doNothing())
    .execute();
  call.wake("scans");
}

const KEY = ["parent", "digest", "scanner", "type"] as const;

/** `dueMs`: in milliseconds of the agreed time; of several, the one that is due longest comes first. */
function rowOf({ nowMs }: Call, { repo, digest, type, scanner }: ScanWish, dueMs: number): Row<"scans"> {
  return {
    uid: newUid(repo),
    parent: repo,
    scanner: scanner.uid,
    scanner_name: scanner.name,
    digest,
    type,
    ...WAITING,
    holder: "",
    hold_until: dueMs,
    software: null,
    counts: null,
    report_mime_type: "",
    report_size: 0,
    packages: 0,
    request_time: nowMs,
    start_time: null,
    report_time: null,
  };
}

/** The manifests, of those given, that the repo holds, with their media types. */
export async function manifestsOf(
  tx: Database,
  repo: string,
  digests: readonly string[],
): Promise<{ digest: string; media_type: string }[]> {
  if (digests.length === 0) return [];
  return await tx
    .selectFrom("manifests")
    .select(["digest", "media_type"])
    .where("repo", "=", repo)
    .where("digest", "in", [...digests])
    .orderBy("digest")
    .execute();
}
