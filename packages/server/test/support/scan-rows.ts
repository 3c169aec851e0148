import { gzipSync } from "node:zlib";
import { newUid } from "../../src/lib/uid.ts";
import type { Platform } from "./platform.ts";
import { OCI_IMAGE, type ScannerAdapter, startAdapter, VULNERABILITIES } from "./scanner-adapter.ts";

let adapter: Promise<ScannerAdapter> | undefined;

/** The address of an adapter that all tests of this process share. */
export async function adapterUrl(): Promise<string> {
  return (await (adapter ??= startAdapter())).url;
}

/** A scanner of the group, as if the owner had registered the adapter at that address. Answers its uid. */
export async function addScanner(platform: Platform, group: string, url?: string): Promise<string> {
  const uid = newUid(group);
  const capability = {
    type: "SCAN_TYPE_VULNERABILITY",
    consumesMimeTypes: [OCI_IMAGE],
    producesMimeTypes: [VULNERABILITIES],
  };
  const row = {
    uid,
    parent: group,
    name: uid.slice(-16),
    description: "",
    url: url ?? (await adapterUrl()),
    credential: "",
    disabled: 0,
    on_request_only: 0,
    adapter: JSON.stringify({ name: "Test Scanner", capabilities: [capability] }),
    check_time: 0,
    identity: platform.owner,
    create_time: 0,
    update_time: 0,
  };
  await platform.transact((tx) => tx.insertInto("scanners").values(row).execute());
  return uid;
}

/** A scan that is done, with an empty report. Answers its uid. */
export async function addScan(platform: Platform, repo: string, scanner: string, digest: string): Promise<string> {
  const uid = newUid(repo);
  const state = { state: 3, reason: "", attempts: 1, holder: "", hold_until: 0 };
  const report = { software: null, counts: null, report_mime_type: VULNERABILITIES, report_size: 22, packages: 0 };
  const times = { request_time: 0, start_time: 0, report_time: 0 };
  await platform.transact(async (tx) => {
    await tx
      .insertInto("scans")
      .values({ uid, parent: repo, scanner, scanner_name: "test", digest, type: 1, ...state, ...report, ...times })
      .execute();
    const content = gzipSync(`{"vulnerabilities": []}`);
    await tx.insertInto("scan_reports").values({ scan: uid, content }).execute();
  });
  return uid;
}
