import { ScanType } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { imagesBehind } from "../images/images.ts";
import { marks } from "../marks.ts";
import { readReport, type ReportedVulnerability as Reported } from "../scanners/report.ts";
import { reportOf } from "../scanners/scans.ts";

/** A report of a scanner about an image. Times are milliseconds since 1970. */
export interface ScannedReport {
  uid: string;
  digest: string;
  createdMs: number;
  /** The name and the version that the scanner states of itself. */
  name: string;
  version: string;
}

const MAX_REPORTS = 200;

/** The last reports of scanners about the vulnerabilities of an image, or of the images of an index; newest first. */
export async function scannedReports(tx: Database, repo: string, digest: string): Promise<ScannedReport[]> {
  const digests = await imagesBehind(tx, repo, digest);
  const rows = await select<Pick<Row<"scans">, "uid" | "digest" | "software" | "scanner_name" | "report_time">>(
    tx,
    `select s.uid, s.digest, s.software, s.scanner_name, s.report_time from scans as s
     where s.parent = ? and s.digest in (${marks(digests)}) and s.type = ${ScanType.VULNERABILITY} and s.report_time is not null
     order by s.report_time desc, s.uid limit ${MAX_REPORTS}`,
    [repo, ...digests],
  );
  return rows.map(({ uid, digest: of, software, scanner_name: given, report_time: time }) => {
    const { name = given, version = "" } = JSON.parse(software ?? "{}") as { name?: string; version?: string };
    return { uid, digest: of, createdMs: Number(time), name, version };
  });
}

/** The report as the scanner sent it. */
export async function scannedContent(call: Pick<Call, "tx" | "weigh">, { uid }: ScannedReport): Promise<Uint8Array> {
  return await reportOf(call, { uid, reason: "" });
}

/** What the report says, the worst first. */
export async function scannedVulnerabilities(
  call: Pick<Call, "tx" | "weigh">,
  report: ScannedReport,
): Promise<Reported[]> {
  return readReport(await scannedContent(call, report)).vulnerabilities;
}
