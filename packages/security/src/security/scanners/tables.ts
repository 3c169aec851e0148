import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * Adapters that scan the images of a group and of all below it. `credential`: the value of the Authorization header
     * that the adapter wants, sealed; empty for none. `adapter`: a ScannerAdapter as proto3 JSON, of `check_time`.
     * `identity`: with whose rights the adapter pulls.
     */
    scanners: {
      uid: string;
      parent: string;
      name: string;
      description: string;
      url: string;
      credential: string;
      disabled: number;
      on_request_only: number;
      adapter: string | null;
      check_time: number | null;
      identity: string;
      create_time: number;
      update_time: number;
    };
    /**
     * What a scanner says of an image of a repo, its `parent`. `type` and `state` are those of the API. `holder`: the
     * process that has it scanned, until `hold_until` in milliseconds of the agreed time; without a holder, when it is
     * due. `software` and `counts` are proto3 JSON, null without a report; they and the columns `report_…` are of the
     * last report, whatever the state is since. `packages`: the number of its packages, which are in image_packages
     * with the source `scan/<uid>`; 0 while they are written.
     */
    scans: {
      uid: string;
      parent: string;
      scanner: string;
      scanner_name: string;
      digest: string;
      type: number;
      state: number;
      reason: string;
      attempts: number;
      holder: string;
      hold_until: number;
      software: string | null;
      counts: string | null;
      report_mime_type: string;
      report_size: number;
      packages: number;
      request_time: number;
      start_time: number | null;
      report_time: number | null;
    };
    /** The last report of a scan as the adapter sent it, compressed by gzip. */
    scan_reports: { scan: string; content: Uint8Array };
  }
}

export const SCANNER_TABLES = declareTables({
  scanners: { key: ["uid"], weight: "length(description) + coalesce(length(adapter), 0)" },
  scans: { key: ["uid"], weight: "length(reason)" },
  scan_reports: { key: ["scan"], bytes: ["content"], weight: "length(content)" },
});
