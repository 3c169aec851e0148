import { declareTables } from "@moorage/kernel/store";
import type { SeverityCounts } from "../records/severities.ts";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * That a record affects a package, whichever images hold it: from `opened`, in milliseconds since 1970, until
     * `closed`, null while it does. Rows are only added and closed, and go with their package. `since`: when it was
     * opened first, if the row follows one that was closed at `opened` because the record says something else now.
     * `change` and `modified`: the state of the record that opened it. `state`: a FixState. `fixed` and `last_affected`
     * are JSON lists of versions, in their order. Reasons: see OpenReason and CloseReason; empty while it is open.
     */
    package_findings: {
      package: string;
      feed: string;
      record: string;
      change: number;
      modified: number;
      opened: number;
      since: number;
      closed: number | null;
      reason_opened: string;
      reason_closed: string;
      state: string;
      fixed: string;
      last_affected: string;
    };
    /**
     * Why findings of images may have changed: see CauseKind. `scope`: the group or repo at and below which; empty for
     * all. `position`: up to which digest the images were found.
     */
    finding_causes: {
      id: string;
      kind: string;
      subject: string;
      scope: string;
      position: string;
      create_time: number;
    };
    /**
     * Images whose findings are to be compared with what was emitted of them. `mark`: another one for each new reason,
     * so that who has looked at an image ends only the wait that it saw.
     */
    finding_checks: { digest: string; repo: string; mark: string; create_time: number };
    /**
     * The findings of an image that were open when it was looked at last, as `differences` writes them, and how many
     * there are of each severity.
     */
    finding_notices: { repo: string; digest: string; open: string; update_time: number } & SeverityCounts;
    /**
     * How many findings were open in a group with all below it when they were counted last on a day, which is in days
     * since 1970. `at_least`: 1 when there may be more `unknown_images`. `time`: when, in milliseconds since 1970.
     */
    finding_days: { grp: string; day: number; unknown_images: number; at_least: number; time: number } & SeverityCounts;
    /**
     * How far the comparison of packages and records has come. `changes`: up to this change number, and in `position`
     * (JSON, or empty) up to where in the next one; `packages`: `position` is that in the package whose comparison
     * began. `statements`: a number that grows when statements of feeds change, and the position in a feed that is
     * restated. `scans`: up to which event tags were looked at for what is to be scanned.
     */
    matching: { name: string; value: number; position: string };
  }
}

export const FINDING_TABLES = declareTables({
  package_findings: { key: ["package", "feed", "record", "opened", "change"] },
  finding_causes: { key: ["id"] },
  finding_checks: { key: ["digest", "repo"] },
  finding_notices: { key: ["repo", "digest"], weight: "length(open)" },
  finding_days: { key: ["grp", "day"] },
  matching: { key: ["name"] },
});
