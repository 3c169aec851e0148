import { gzipSync } from "node:zlib";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import type { Platform } from "./platform.ts";
import { OCI_IMAGE, type ScannerAdapter, startAdapter, VULNERABILITIES } from "./scanner-adapter.ts";

let adapter: Promise<ScannerAdapter> | undefined;

/** The address of an adapter that all tests of this process share. */
export async function adapterUrl(): Promise<string> {
  return (await (adapter ??= startAdapter())).url;
}

/**
 * A scanner of the group, as if the owner had registered the adapter at that address for scans on request: the server
 * plans none by itself beside those that a test adds. Answers its uid.
 */
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
    on_request_only: 1,
    adapter: JSON.stringify({ name: "Test Scanner", capabilities: [capability] }),
    check_time: 0,
    identity: platform.owner,
    create_time: 0,
    update_time: 0,
  };
  await platform.transact((tx) => tx.insertInto("scanners").values(row).execute());
  return uid;
}

/** What a scan has reported. */
export interface AddedReport {
  /** The report's `vulnerabilities`; empty by default. */
  vulnerabilities?: object[];
  /** What made it, as it states itself. */
  software?: { name: string; vendor: string; version: string };
  /** Milliseconds since 1970; 0 by default. */
  reportMs?: number;
}

/** A scan that is done, with a report. Answers its uid. */
export async function addScan(
  platform: Platform,
  repo: string,
  scanner: string,
  digest: string,
  { vulnerabilities = [], software, reportMs = 0 }: AddedReport = {},
): Promise<string> {
  const uid = newUid(repo);
  const state = { state: 3, reason: "", attempts: 1, holder: "", hold_until: 0 };
  const report = {
    software: software === undefined ? null : JSON.stringify(software),
    counts: null,
    report_mime_type: VULNERABILITIES,
    report_size: 22,
    packages: 0,
  };
  const times = { request_time: 0, start_time: 0, report_time: reportMs };
  await platform.transact(async (tx) => {
    await tx
      .insertInto("scans")
      .values({ uid, parent: repo, scanner, scanner_name: "test", digest, type: 1, ...state, ...report, ...times })
      .execute();
    const content = gzipSync(JSON.stringify({ scanner: software ?? {}, vulnerabilities }));
    await tx.insertInto("scan_reports").values({ scan: uid, content }).execute();
  });
  return uid;
}
